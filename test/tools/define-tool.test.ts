import { type } from 'arktype';
import { Agent, defineTool, type JsonSchema, type StandardSchema, type ToolContext } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import * as v from 'valibot';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { resultsIn } from '../support/agent/transcript.js';

const jsonSchema = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'number' } },
  required: ['city'],
} as const;

const base = { name: 'weather', description: 'Tells the weather.' };
const tools = {
  zod: defineTool({
    ...base,
    input: z.object({ city: z.string(), days: z.number().optional() }),
    execute: ({ city, days }) => `${city.toUpperCase()} ${days}`,
  }),
  arktype: defineTool({
    ...base,
    input: type({ city: 'string', 'days?': 'number' }),
    execute: ({ city, days }) => `${city.toUpperCase()} ${days}`,
  }),
  'valibot with inputSchema': defineTool({
    ...base,
    input: v.object({ city: v.string(), days: v.optional(v.number()) }),
    inputSchema: jsonSchema,
    execute: ({ city, days }) => `${city.toUpperCase()} ${days}`,
  }),
  'plain JSON Schema': defineTool({
    ...base,
    input: jsonSchema,
    execute(input) {
      const { city, days } = input as { city: string; days?: number };
      return `${city.toUpperCase()} ${days}`;
    },
  }),
};

describe.each(Object.entries(tools))('a tool with %s', (_name, tool) => {
  test('sends the model an object schema', () => {
    expect(tool).toMatchObject(base);
    expect(tool.inputSchema).toMatchObject({
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'number' } },
      required: ['city'],
    });
    expect(() => JSON.stringify(tool.inputSchema)).not.toThrow();
  });

  test('runs with valid arguments, and gives an error result that names invalid arguments', async () => {
    const model = scriptedModel([
      calls(
        { name: 'weather', input: { city: 'Oslo', days: 3 } },
        { name: 'weather', input: { city: 5 } },
        { name: 'weather', input: {} },
        { name: 'weather', input: 'Oslo' },
        { name: 'weather', input: null },
      ),
      'done',
    ]);

    const results = resultsIn((await new Agent({ model, tools: [tool] }).run('go')).messages);

    expect(results.call_1).toBe('OSLO 3');
    expect(results.call_2).toMatch(/^!The arguments of "weather" are not valid: .*city/);
    expect(results.call_3).toMatch(/^!The arguments of "weather" are not valid: .*city/);
    expect(results.call_4).toMatch(/^!The arguments of "weather" are not valid: /);
    expect(results.call_5).toMatch(/^!The arguments of "weather" are not valid: /);
  });
});

describe('defineTool', () => {
  test('passes the output of the schema to execute', async () => {
    const seen: unknown[] = [];
    const tool = defineTool({
      ...base,
      input: z.object({ days: z.coerce.number().default(1) }),
      execute(input) {
        expectTypeOf(input).toEqualTypeOf<{ days: number }>();
        seen.push(input);
        return 'ok';
      },
    });
    const model = scriptedModel([calls({ name: 'weather', input: { days: '4' } }, { name: 'weather' }), 'done']);

    await new Agent({ model, tools: [tool] }).run('go');

    expect(seen).toEqual([{ days: 4 }, { days: 1 }]);
  });

  test('lets a tool return nothing, which is a success, or null and other data', async () => {
    const input = { type: 'object' } as const;
    const tools = [
      defineTool({ ...base, name: 'sync', input, execute: () => {} }),
      defineTool({ ...base, name: 'async', input, execute: async () => {} }),
      defineTool({ ...base, name: 'null', input, execute: async () => null }),
      defineTool({ ...base, name: 'data', input, execute: async (): Promise<{ days: number }> => ({ days: 4 }) }),
    ];
    const model = scriptedModel([
      calls({ name: 'sync' }, { name: 'async' }, { name: 'null' }, { name: 'data' }),
      'done',
    ]);

    const results = resultsIn((await new Agent({ model, tools }).run('go')).messages);

    expect(results).toEqual({ call_1: 'Done.', call_2: 'Done.', call_3: 'null', call_4: '{"days":4}' });
  });

  test('checks with a schema that is asynchronous', async () => {
    const tool = defineTool({
      ...base,
      input: z.object({ city: z.string() }).refine(async ({ city }) => city !== 'Atlantis', 'no such city'),
      execute: ({ city }) => city,
    });
    const model = scriptedModel([
      calls({ name: 'weather', input: { city: 'Oslo' } }, { name: 'weather', input: { city: 'Atlantis' } }),
      'done',
    ]);

    expect(resultsIn((await new Agent({ model, tools: [tool] }).run('go')).messages)).toEqual({
      call_1: 'Oslo',
      call_2: '!The arguments of "weather" are not valid: no such city',
    });
  });

  test('names the path of each issue, given as keys or as segments', async () => {
    const issues = [
      { message: 'bad' },
      { message: 'worse', path: [] },
      { message: 'wrong', path: ['a', 0, { key: 'b' }, Symbol.for('c')] },
    ];
    const input = { '~standard': { version: 1, vendor: 'own', validate: () => ({ issues }) } } as const;
    const tool = defineTool({ ...base, input, inputSchema: { type: 'object' }, execute: () => 'ran' });

    const { messages } = await new Agent({ model: scriptedModel([calls('weather'), 'done']), tools: [tool] }).run('go');

    expect(resultsIn(messages).call_1).toBe(
      '!The arguments of "weather" are not valid: bad; worse; a.0.b.Symbol(c): wrong',
    );
  });

  test('keeps arguments that a plain JSON Schema does not mention', async () => {
    const seen: unknown[] = [];
    const tool = defineTool({ ...base, input: jsonSchema, execute: (input) => `${seen.push(input)}` });
    const input = { city: 'Oslo', extra: { deep: [1, null] } };

    await new Agent({ model: scriptedModel([calls('weather', input), 'done']), tools: [tool] }).run('go');

    expect(seen).toEqual([input]);
  });

  test('gives an error result for every call if the JSON Schema is invalid', async () => {
    const tool = defineTool({ ...base, input: { $ref: '#/$defs/nowhere' }, execute: () => 'ran' });

    const { messages } = await new Agent({ model: scriptedModel([calls('weather'), 'done']), tools: [tool] }).run('go');

    expect(resultsIn(messages).call_1).toMatch(/^!/);
  });

  test('passes the call id, the run, the context, a signal and a logger to execute', async () => {
    const contexts: ToolContext[] = [];
    const tool = defineTool({
      ...base,
      input: z.object({}),
      execute: (_input, context) => `${contexts.push(context)}`,
    });
    const agent = new Agent({ name: 'a', model: scriptedModel([calls('weather'), 'done']), tools: [tool] });

    await agent.run('go', { context: 'mine' });

    const [context] = contexts as [ToolContext];
    expect([context.callId, context.toolName, context.context]).toEqual(['call_1', 'weather', 'mine']);
    expect([context.run.agent, context.run.turn, context.run.context]).toEqual(['a', 2, 'mine']);
    expect(context.signal).toBeInstanceOf(AbortSignal);
    expect(context.logger.warn).toBeTypeOf('function');
  });

  test('keeps timeoutMs, annotations and origin, and omits them by default', () => {
    const extra = { timeoutMs: 5, annotations: { destructive: true }, origin: 'shop' };

    expect(defineTool({ ...base, input: jsonSchema, execute: () => 'x', ...extra })).toMatchObject(extra);
    expect(Object.keys(tools.zod)).toEqual(['name', 'description', 'inputSchema', 'check', 'execute']);
  });
});

describe('refuses an invalid definition', () => {
  const define = (changes: object) => () =>
    defineTool({ ...base, input: jsonSchema, execute: () => 'x', ...changes } as Parameters<typeof defineTool>[0]);

  test.each<[string, object]>([
    ['an empty name', { name: '' }],
    ['a name with a space', { name: 'get weather' }],
    ['a name with a dot', { name: 'get.weather' }],
    ['a name of 65 letters', { name: 'x'.repeat(65) }],
    ['no name', { name: undefined }],
    ['no description', { description: undefined }],
    ['an execute that is a string', { execute: 'x' }],
    ['no input', { input: undefined }],
    ['null as input', { input: null }],
    ['an array as input', { input: [] }],
    ['a string as input', { input: 'string' }],
    ['a function as input', { input: () => {} }],
    ['a time-out of 0', { timeoutMs: 0 }],
    ['a time-out of NaN', { timeoutMs: Number.NaN }],
    ['a time-out of 1e12', { timeoutMs: 1e12 }],
    ['a time-out that is a string', { timeoutMs: '5' }],
    ['a schema without JSON Schema', { input: v.object({}) }],
    ['a schema with a member that has no JSON Schema', { input: z.object({ day: z.date() }) }],
    ['a schema of a string', { input: z.string() }],
    ['a JSON Schema of an array', { input: { type: 'array' } }],
    ['an inputSchema of a number', { input: v.object({}), inputSchema: { type: 'integer' } }],
    ['a map of schemas', { input: { city: z.string() } }],
    ['an unknown member', { needsApproval: true }],
  ])('%s', (_title, changes) => {
    expect(define(changes)).toThrow(expect.objectContaining({ code: 'ERR_TOOL_INVALID' }));
  });

  test('a missing definition', () => {
    for (const definition of [undefined, null, 'weather', 5]) {
      expect(() => defineTool(definition as never)).toThrow(expect.objectContaining({ code: 'ERR_TOOL_INVALID' }));
    }
  });

  test('accepts a schema without a type, or with several types', () => {
    const open = [{}, { type: ['object', 'null'] }, { anyOf: [{ type: 'object' }] }];
    for (const input of [z.any(), z.union([z.object({}), z.object({})]), ...open]) {
      expect(define({ input })).not.toThrow();
    }
  });

  test('sends the model a schema without a type with `type: "object"`, which providers require', () => {
    const union = z.discriminatedUnion('by', [z.object({ by: z.literal('name') }), z.object({ by: z.literal('id') })]);
    const shown = (input: typeof union | JsonSchema) => defineTool({ ...base, input, execute: () => 'x' }).inputSchema;
    const frozen = Object.freeze({ $ref: '#/$defs/Place', $defs: { Place: { type: 'object' } } });

    expect(shown(union)).toMatchObject({ type: 'object', oneOf: [{ type: 'object' }, { type: 'object' }] });
    expect(shown(frozen)).toEqual({ type: 'object', ...frozen });
    expect(shown({})).toEqual({ type: 'object' });
    expect(shown({ type: undefined })).toEqual({ type: 'object' });
    expect(shown({ type: ['object', 'null'] })).toEqual({ type: ['object', 'null'] });
  });

  test('accepts a name of 64 letters, digits, `_` and `-`', () => {
    expect(define({ name: `${'x'.repeat(60)}_-9A` })).not.toThrow();
  });

  test('accepts a schema with a date if there is an explicit inputSchema', () => {
    expect(define({ input: z.object({ day: z.date() }), inputSchema: { type: 'object' } })).not.toThrow();
  });
});

describe('a schema library', () => {
  test('without JSON Schema needs `inputSchema`, and the error names the first zod release that has one', () => {
    const input = mini.object({ place: mini.string() });

    expect(() => defineTool({ ...base, input, execute: () => 'x' })).toThrow(
      'it has no JSON Schema (zod has one since 4.2); pass one as `inputSchema`',
    );
    const { inputSchema } = defineTool({ ...base, input, inputSchema: mini.toJSONSchema(input), execute: () => 'x' });
    expect(inputSchema).toMatchObject({ properties: { place: { type: 'string' } } });
  });

  test('that converts to JSON Schema by `toJsonSchema` works too', () => {
    const input = {
      '~standard': { version: 1, vendor: 'old', validate: (value: unknown) => ({ value }) },
      toJsonSchema: () => ({ type: 'object', title: 'x' }),
    } as StandardSchema;

    expect(defineTool({ ...base, input, execute: () => 'x' }).inputSchema).toEqual({ type: 'object', title: 'x' });
  });
});
