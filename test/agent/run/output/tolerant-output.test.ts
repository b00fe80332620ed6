import { type } from 'arktype';
import { Agent, defineTool, HookAction, type JsonSchema, type OutputSchema, type PartialOutput } from 'keelson';
import { calls, fails, says, scriptedModel, streams } from 'keelson/testing';
import * as v from 'valibot';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { rejectionOf } from '../../../support/agent/settle.js';

const jsonSchema: JsonSchema = {
  type: 'object',
  properties: {
    q: { type: 'string' },
    limit: { type: 'number' },
    in: { type: 'object', properties: { page: { type: 'number' } } },
  },
  required: ['q'],
  additionalProperties: false,
};
const schemas: Readonly<Record<string, OutputSchema>> = {
  zod: z.object({
    q: z.string(),
    limit: z.number().optional(),
    in: z.object({ page: z.number().optional() }).optional(),
  }),
  arktype: type({ q: 'string', 'limit?': 'number', 'in?': { 'page?': 'number' } }),
  valibot: v.object({
    q: v.string(),
    limit: v.optional(v.number()),
    in: v.optional(v.object({ page: v.optional(v.number()) })),
  }),
  'a plain JSON Schema': jsonSchema,
};
const answering = (text: string, output: OutputSchema) =>
  new Agent({ model: scriptedModel([text]) }).run('go', { output, maxTurns: 1 });

describe.each(Object.entries(schemas))('a `null` with %s', (_name, output) => {
  test('counts as absent for an optional field', async () => {
    const result = await answering('{"q":"x","limit":null,"in":{"page":null}}', output);

    expect(result.output).toEqual({ q: 'x', in: {} });
  });

  test.each(['{"q":null,"limit":1}', '{"q":null,"limit":null}', '{"q":1,"limit":null}', '{"q":"x","limit":"1"}'])(
    'does not excuse %s',
    async (text) => {
      expect(await rejectionOf(answering(text, output))).toMatchObject({ code: 'ERR_OUTPUT_INVALID' });
    },
  );

  test('counts as absent in the arguments of a tool, and the messages keep what the model wrote', async () => {
    const ran: unknown[] = [];
    const find = defineTool({
      name: 'find',
      description: 'Finds.',
      input: output as JsonSchema,
      inputSchema: jsonSchema,
      execute: (input) => void ran.push(input),
    });
    const model = scriptedModel([calls('find', { q: 'x', limit: null }), 'done']);

    const { messages } = await new Agent({ model, tools: [find] }).run('go');

    expect(ran).toEqual([{ q: 'x' }]);
    expect(messages[1]?.content[0]).toMatchObject({ input: { q: 'x', limit: null } });
  });
});

test('a `null` that the schema takes stays', async () => {
  const output = z.object({ limit: z.number().nullish(), page: z.number().optional() });

  expect((await answering('{"limit":null,"page":null}', output)).output).toEqual({ limit: null });
});

test('a `null` counts as absent in an alternative of a union', async () => {
  const output = z.union([z.object({ a: z.string(), b: z.number().optional() }), z.object({ c: z.string() })]);

  expect((await answering('{"a":"x","b":null}', output)).output).toEqual({ a: 'x' });
});

describe('an OutputInvalidError', () => {
  const output = z.object({ items: z.array(z.string()) });

  test.each([
    ['length', '{"items": ["a", "b', /was cut off \(finish reason "length"\)/],
    ['content-filter', 'I cannot help with that.', /was refused \(finish reason "content-filter"\)/],
  ] as const)('has the finish reason %s, and the model is not asked again', async (finishReason, text, message) => {
    const model = scriptedModel([says(text, { finishReason })]);

    const error = await rejectionOf(new Agent({ model }).run('go', { output }));

    expect(error).toMatchObject({
      code: 'ERR_OUTPUT_INVALID',
      finishReason,
      text,
      issues: [{ message: 'it is not JSON' }],
    });
    expect((error as Error).message).toMatch(message);
  });

  test('has no finish reason if a hook gave the answer', async () => {
    const hook = { beforeModel: () => HookAction.respond('no') };
    const error = await rejectionOf(new Agent({ model: scriptedModel([]), lifecycle: [hook] }).run('go', { output }));

    expect(error).toMatchObject({ code: 'ERR_OUTPUT_INVALID', finishReason: undefined });
  });

  test('is not thrown for an answer that was cut off behind its value', async () => {
    const model = scriptedModel([says('{"items":["a"]}\n\nI chose this, bec', { finishReason: 'length' })]);

    expect((await new Agent({ model }).run('go', { output })).output).toEqual({ items: ['a'] });
  });
});

describe('stream.output', () => {
  const output = z.object({ title: z.string(), steps: z.array(z.string()), minutes: z.number().default(5) });
  const partsOf = async (...script: Parameters<typeof scriptedModel>[0] & readonly unknown[]) => {
    const seen: unknown[] = [];
    for await (const part of new Agent({ model: scriptedModel(script) }).stream('go', { output }).output)
      seen.push(part);
    return seen;
  };

  test('yields the value while it is written, and at last the checked output', async () => {
    const seen = await partsOf(
      streams(
        [
          '<think>{"title":"no"}</think>',
          'Here:\n```json\n{"ti',
          'tle": "So',
          'up", "steps": ["cut \\u00',
          'e9", "co',
          'ok"], "min',
          '\n',
        ],
        '<think>{"title":"no"}</think>Here:\n```json\n{"title": "Soup", "steps": ["cut \\u00e9", "cook"]}\n```',
      ),
    );

    expect(seen).toEqual([
      {},
      { title: 'So' },
      { title: 'Soup', steps: ['cut '] },
      { title: 'Soup', steps: ['cut é', 'co'] },
      { title: 'Soup', steps: ['cut é', 'cook'] },
      { title: 'Soup', steps: ['cut é', 'cook'], minutes: 5 },
    ]);
  });

  test('starts again with a repair', async () => {
    const seen = await partsOf(
      streams(['{"title": "So'], '{"title": "Soup"}'),
      streams(['{"title": "Stew"'], '{"title":"Stew","steps":[]}'),
    );

    expect(seen).toEqual([{ title: 'So' }, { title: 'Stew' }, { title: 'Stew', steps: [], minutes: 5 }]);
  });

  test('throws the error of the run', async () => {
    expect(await rejectionOf(partsOf(fails()))).toMatchObject({ code: 'ERR_MODEL_FAILED' });
  });

  test('ends the run when its reader leaves', async () => {
    const stream = new Agent({ model: scriptedModel([streams(['{"title":"x"'])]) }).stream('go', { output });
    for await (const part of stream.output) {
      expect(part).toEqual({ title: 'x' });
      break;
    }

    expect(await rejectionOf(stream.result)).toMatchObject({ code: 'ERR_RUN_ABORTED' });
  });

  test('has partial types', () => {
    type Seen = PartialOutput<{ title: string; steps: { text: string }[] }>;
    expectTypeOf<Seen>().toEqualTypeOf<{
      readonly title?: string;
      readonly steps?: readonly { readonly text?: string }[];
    }>();
    expectTypeOf<PartialOutput<unknown>>().toEqualTypeOf<unknown>();
  });
});
