import { inspect } from 'node:util';
import { type } from 'arktype';
import {
  Agent,
  HookAction,
  type JsonSchema,
  type OutputSchema,
  type RunError,
  type Session,
  type StandardSchema,
} from 'keelson';
import { calls, scriptedModel, streams } from 'keelson/testing';
import * as v from 'valibot';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { echo } from '../../../support/agent/sample-tools.js';
import { rejectionOf } from '../../../support/agent/settle.js';
import { transcript } from '../../../support/agent/transcript.js';
import { growth } from '../../../support/growth.js';

const jsonSchema = {
  type: 'object',
  properties: { city: { type: 'string' }, degrees: { type: 'number' } },
  required: ['city', 'degrees'],
};
const schemas: Readonly<Record<string, OutputSchema>> = {
  zod: z.object({ city: z.string(), degrees: z.number() }),
  arktype: type({ city: 'string', degrees: 'number' }),
  valibot: v.object({ city: v.string(), degrees: v.number() }),
  'valibot with a JSON Schema': { schema: v.object({ city: v.string(), degrees: v.number() }), jsonSchema },
  'plain JSON Schema': jsonSchema,
};
const good = '{"city":"Oslo","degrees":-3}';
const value = { city: 'Oslo', degrees: -3 };
const weather = schemas.zod as OutputSchema;

describe.each(Object.entries(schemas))('structured output with %s', (name, output) => {
  test('returns the checked value, and does not change the text', async () => {
    const result = await new Agent({ model: scriptedModel([good]) }).run('go', { output });

    expect([result.output, result.text, result.turns]).toEqual([value, good, 1]);
  });

  test('asks the model again after a mismatch, and then returns the value', async () => {
    const model = scriptedModel(['{"city":"Oslo"}', good]);

    const result = await new Agent({ model }).run('go', { output });

    expect([result.output, result.turns]).toEqual([value, 2]);
    const [, answer, repair] = transcript(model.requests[1]?.messages ?? []);
    expect(answer).toBe('assistant: {"city":"Oslo"}');
    expect(repair).toMatch(/^user: The answer does not match what was asked for: .*degrees/);
  });

  test('ends with an OutputInvalidError after the second mismatch', async () => {
    const model = scriptedModel(['nothing', '{"city":"Oslo","degrees":"cold"}']);

    const error = await rejectionOf(new Agent({ model }).run('go', { output }));

    expect(error).toMatchObject({ code: 'ERR_OUTPUT_INVALID', text: '{"city":"Oslo","degrees":"cold"}' });
    expect((error as { issues: { path: unknown[] }[] }).issues[0]?.path).toBeDefined();
    expect((error as RunError).messages).toHaveLength(4);
    expect(model.requests).toHaveLength(2);
    expect([inspect(error, { depth: 9 }), JSON.stringify(error), String(error)].join()).not.toContain('cold');
  });

  test('sends the model the JSON Schema, if the schema can be converted', async () => {
    const model = scriptedModel([good]);

    await new Agent({ model }).run('go', { output });

    const told = model.requests[0]?.output?.schema;
    if (name === 'valibot') expect(told).toBe(undefined);
    else expect(told).toMatchObject(jsonSchema);
  });
});

describe('structured output', () => {
  test.each([
    ['```json\n{"a":1}\n```'],
    ['```\n{"a":1}\n```'],
    ['  ```JSON\n{"a":1}\n```  \n'],
    ['```json\r\n{"a":1}\r\n```'],
    ['```json {"a":1} ```'],
    ['\ufeff{"a":1}'],
    ['{"a":1}\n'],
  ])('is read from %j', async (text) => {
    const { output } = await new Agent({ model: scriptedModel([text]) }).run('go', {
      output: z.object({ a: z.number() }),
    });

    expect(output).toEqual({ a: 1 });
  });

  test('of many line breaks in a code fence is refused in linear time', async () => {
    const refuse = (lines: number) => async () => {
      const model = scriptedModel(`\`\`\`json${'\n'.repeat(lines)}x`);
      const error = await rejectionOf(new Agent({ model }).run('go', { output: weather }));
      expect(error).toMatchObject({ code: 'ERR_OUTPUT_INVALID' });
    };

    expect(await growth(2_000, refuse)).toBeLessThan(100);
  });

  test('lists at most twenty issues for the model', async () => {
    const model = scriptedModel([`[${'"x",'.repeat(5_000)}"x"]`, '[]']);

    const { messages } = await new Agent({ model }).run('go', { output: z.array(z.number()) });

    expect(transcript(messages)[2]).toMatch(/19: [^;]*; and 4981 more\n/);
  });

  test('has the output type of its schema, `unknown` for a plain JSON Schema, and `string` without a schema', async () => {
    const agent = new Agent({ model: scriptedModel(() => '{"total":3}') });
    const host: Agent | Session = agent;
    const due = z.object({ total: z.number().transform(String) });
    const json = { type: 'object' } as const;

    const { output } = await host.run('go', { output: due });
    expectTypeOf(output).toEqualTypeOf<{ total: string } | undefined>();
    expectTypeOf((await agent.run('go', { output: { schema: due, jsonSchema: json } })).output).toEqualTypeOf(output);
    expectTypeOf((await agent.stream('go', { output: due }).result).output).toEqualTypeOf(output);
    expectTypeOf((await agent.run('go', { output: due as OutputSchema<'x'> })).output).toEqualTypeOf<'x' | undefined>();
    expectTypeOf((await agent.run('go', { output: json })).output).toEqualTypeOf<unknown>();
    expectTypeOf((await agent.run('go', { maxTurns: 2 })).output).toEqualTypeOf<string | undefined>();
    expectTypeOf((await agent.run('go', { output: JSON.parse('{}') })).output).toEqualTypeOf<unknown>();

    expect(output).toEqual({ total: '3' });
  });

  test('has that type in a generic function too', async () => {
    const agent = new Agent({ model: scriptedModel(() => '{"total":3}') });
    const ask = async <T>(schema: z.ZodType<T>): Promise<T | undefined> =>
      (await agent.run('go', { output: schema })).output;
    const askAny = async <T>(schema: OutputSchema<T>): Promise<T | undefined> =>
      (await agent.run('go', { output: schema })).output;

    const output = await ask(z.object({ total: z.number() }));

    expectTypeOf(output).toEqualTypeOf<{ total: number } | undefined>();
    expect(await askAny(z.object({ total: z.number() }))).toEqual(output);
  });

  test('tells the model in the repair that its answer is not JSON', async () => {
    const model = scriptedModel(['Sure! a is 1.', '{"a":1}']);

    await new Agent({ model }).run('go', { output: z.object({ a: z.number() }) });

    expect(transcript(model.requests[1]?.messages ?? []).at(-1)).toMatch(/it is not JSON/);
  });

  test('is not quoted in the error of the run', async () => {
    const agent = new Agent({ model: scriptedModel(['tide-4711']), maxTurns: 1 });

    const error = await rejectionOf(agent.run('go', { output: z.object({ a: z.number() }) }));

    expect(error).toMatchObject({ code: 'ERR_OUTPUT_INVALID' });
    expect(inspect(error)).not.toContain('tide-4711');
  });

  test('is the output of the schema', async () => {
    const output = z.object({ day: z.string().transform((day) => day.length) });

    const result = await new Agent({ model: scriptedModel(['{"day":"Monday"}']) }).run('go', { output });

    expect(result.output).toEqual({ day: 6 });
  });

  test('works with a schema that checks asynchronously', async () => {
    const output = z.object({ a: z.number() }).refine(async ({ a }) => a > 1, 'too small');

    const result = await new Agent({ model: scriptedModel(['{"a":1}', '{"a":2}']) }).run('go', { output });

    expect([result.output, result.turns]).toEqual([{ a: 2 }, 2]);
  });

  test('works with tools, and the schema is in the request of every turn', async () => {
    const model = scriptedModel([calls('echo', { text: 'x' }), good]);

    const result = await new Agent({ model, tools: [echo] }).run('go', { output: weather });

    expect(result.output).toEqual(value);
    expect(model.requests.map((request) => request.output !== undefined)).toEqual([true, true]);
  });

  test('works with wrap hooks, and the repair is a turn with hooks and usage', async () => {
    const log: string[] = [];
    const agent = new Agent({
      model: scriptedModel(['no', 'almost']),
      lifecycle: [
        {
          beforeModel: (_messages, run) => void log.push(`beforeModel ${run.turn}`),
          async wrapModelCall(request, next) {
            log.push(`wrap ${request.output === undefined ? 'without' : 'with'} output`);
            const response = await next({ ...request, settings: { temperature: 0 } });
            if (request.run.turn === 1) return response;
            return { ...response, content: [{ type: 'text', text: good }] };
          },
          afterModel: () => void log.push('afterModel'),
          afterAgent: (text) => void log.push(`afterAgent ${text}`),
        },
      ],
    });

    const result = await agent.run('go', { output: weather });

    expect([result.output, result.turns, result.usage.totalTokens]).toEqual([value, 2, 30]);
    const turn = (at: number) => [`beforeModel ${at}`, 'wrap with output', 'afterModel'];
    expect(log).toEqual([...turn(1), ...turn(2), `afterAgent ${good}`]);
  });

  test('is checked before afterAgent, which does not affect it', async () => {
    const agent = new Agent({ model: scriptedModel([good]), lifecycle: [{ afterAgent: () => 'Brr.' }] });

    const result = await agent.run('go', { output: weather });

    expect([result.text, result.output]).toEqual(['Brr.', value]);
  });

  test('is checked after afterModel, with its changes', async () => {
    const agent = new Agent({
      model: scriptedModel(['no']),
      lifecycle: [
        { afterModel: (response) => HookAction.modify({ ...response, content: [{ type: 'text', text: good }] }) },
      ],
    });

    expect((await agent.run('go', { output: weather })).output).toEqual(value);
  });

  test('is also checked in the text of a respond action', async () => {
    const responding = (text: string) =>
      new Agent({ model: scriptedModel([]), lifecycle: [{ beforeModel: () => HookAction.respond(text) }] });

    expect((await responding(good).run('go', { output: weather })).output).toEqual(value);
    expect(await rejectionOf(responding('no').run('go', { output: weather }))).toMatchObject({
      code: 'ERR_OUTPUT_INVALID',
    });
  });

  test('is the value of the last answer, if an added message started another turn', async () => {
    const agent = new Agent({
      model: scriptedModel([good, '{"city":"Rome","degrees":30}']),
      lifecycle: [
        {
          afterModel: (_response, run) =>
            run.turn === 1 ? run.add({ role: 'user', content: 'and in Rome?' }) : undefined,
        },
      ],
    });

    const { output, turns } = await agent.run('go', { output: weather });

    expect([output, turns]).toEqual([{ city: 'Rome', degrees: 30 }, 2]);
  });

  test('is not repaired after the last turn', async () => {
    const model = scriptedModel(['no', good]);

    const error = await rejectionOf(new Agent({ model, maxTurns: 1 }).run('go', { output: weather }));

    expect(error).toMatchObject({ code: 'ERR_OUTPUT_INVALID', text: 'no' });
    expect(model.requests).toHaveLength(1);
  });

  test('works in a session and in a stream, and the session stores the repair', async () => {
    const session = await new Agent({ model: scriptedModel([streams(['n', 'o']), good]) }).session();

    const { output } = await session.stream('go', { output: weather }).result;

    expect(output).toEqual(value);
    expect(session.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  });

  const broken: Readonly<Record<string, OutputSchema>> = {
    'throws in its check': {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate() {
          throw new Error('broken schema');
        },
      },
    } satisfies StandardSchema,
    'rejects in its check': {
      '~standard': { version: 1, vendor: 'test', validate: () => Promise.reject(new Error('broken schema')) },
    } satisfies StandardSchema,
    'returns undefined from its check': {
      '~standard': { version: 1, vendor: 'test', validate: () => undefined as never },
    } satisfies StandardSchema,
    'returns issues with unusual paths': {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: () => ({ issues: [{ message: 'x', path: [null as never] }] }),
      },
    } satisfies StandardSchema,
    'is an invalid JSON Schema': { $ref: '#/$defs/nowhere' },
    'cannot be converted to JSON Schema': z.object({ day: z.date() }),
  };

  test.each(Object.entries(broken))(
    'with a schema that %s ends the run with an error of this library',
    async (_title, output) => {
      const error = await rejectionOf(new Agent({ model: scriptedModel('{}') }).run('go', { output }));

      expect(error).toMatchObject({ code: expect.stringMatching(/^ERR_(OUTPUT|OPTION)_INVALID$/) });
    },
  );
});

test.each([
  ['a map of schemas', { city: z.string() }],
  ['a map with a name that is also an option', { schema: z.string(), city: z.string() }],
  ['a map of schemas of valibot', { city: v.string() }],
])('refuses %s, which as a JSON Schema would accept every answer', async (_title, output) => {
  const run = new Agent({ model: scriptedModel([good]) }).run('go', { output: output as JsonSchema });

  await expect(run).rejects.toThrow(
    /^`output` must be a Standard Schema or a JSON Schema; wrap a map of schemas in `z\.object\(…\)`/,
  );
});
