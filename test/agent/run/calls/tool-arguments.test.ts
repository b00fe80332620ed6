import { type } from 'arktype';
import {
  Agent,
  type AgentLifecycle,
  defineTool,
  type JsonSchema,
  type StandardSchema,
  type ToolCallPart,
} from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { toolOf } from '../../../support/agent/sample-tools.js';
import { resultsIn } from '../../../support/agent/transcript.js';

/** A tool that counts its checks and logs its arguments. */
function watched() {
  const checked: unknown[] = [];
  const ran: unknown[] = [];
  const schema = z.object({ n: z.number(), unit: z.string().default('m') });
  const tool = {
    ...defineTool({
      name: 'measure',
      description: '',
      input: schema,
      execute: (input) => (ran.push(input) > 0 ? 'ok' : ''),
    }),
    check(input: unknown) {
      checked.push(input);
      return schema['~standard'].validate(input);
    },
  };
  return { tool, checked, ran };
}

const rewriting = (rewrite: (input: unknown) => unknown, priority = 50): AgentLifecycle => ({
  priority,
  wrapToolCall: (call, next) => next({ ...call, input: rewrite(call.input) }),
});

const invalid = (problem: string) => `!The arguments of "measure" are not valid: n: Invalid input: ${problem}`;

describe('arguments are checked', () => {
  test('once, and the tool gets the output of the schema', async () => {
    const { tool, checked, ran } = watched();

    await new Agent({ model: scriptedModel([calls('measure', { n: 1 }), 'done']), tools: [tool] }).run('go');

    expect(checked).toEqual([{ n: 1 }]);
    expect(ran).toEqual([{ n: 1, unit: 'm' }]);
  });

  test('after the hooks, in the form that the hooks left', async () => {
    const { tool, checked, ran } = watched();
    const lifecycle = [
      rewriting((input) => ({ ...(input as object), n: 2 }), 90),
      rewriting((input) => ({ ...(input as object), unit: 'km' }), 10),
    ];

    await new Agent({ model: scriptedModel([calls('measure', { n: 'one' }), 'done']), tools: [tool], lifecycle }).run(
      'go',
    );

    expect(checked).toEqual([{ n: 2, unit: 'km' }]);
    expect(ran).toEqual([{ n: 2, unit: 'km' }]);
  });

  test('with an error result if a hook made them invalid, and the tool does not run', async () => {
    const { tool, ran } = watched();
    const agent = new Agent({
      model: scriptedModel([calls('measure', { n: 1 }), 'done']),
      tools: [tool],
      lifecycle: [rewriting(() => ({ n: 'broken' }))],
    });

    const { messages } = await agent.run('go');

    expect(resultsIn(messages)).toEqual({ call_1: invalid('expected number, received string') });
    expect(ran).toEqual([]);
  });

  test('inside `next`, so that a hook gets the error result and may replace it', async () => {
    const { tool, checked } = watched();
    const agent = new Agent({
      model: scriptedModel([calls('measure', { n: 'one' }), 'done']),
      tools: [tool],
      lifecycle: [
        {
          async wrapToolCall(call, next) {
            const result = await next();
            return result.isError ? next({ ...call, input: { n: 1 } }) : result;
          },
        },
      ],
    });

    const { messages } = await agent.run('go');

    expect(resultsIn(messages)).toEqual({ call_1: 'ok' });
    expect(checked).toEqual([{ n: 'one' }, { n: 1 }]);
  });

  test('and the decisions have the raw and the changed arguments, and the messages the raw ones', async () => {
    const { tool } = watched();
    const agent = new Agent({
      model: scriptedModel([calls('measure', { n: 1 }), 'done']),
      tools: [tool],
      lifecycle: [{ ...rewriting(() => ({ n: 2 })), name: 'rewriter' }],
    });

    const { messages, decisions } = await agent.run('go');

    expect(messages[1]).toMatchObject({ content: [{ input: { n: 1 } }] });
    expect(decisions).toEqual([
      {
        type: 'modify',
        by: 'rewriter',
        point: 'wrapToolCall',
        turn: 1,
        call: { id: 'call_1', name: 'measure' },
        before: { n: 1 },
        after: { n: 2 },
      },
    ]);
  });

  test('before additions are merged, which never replace an argument', async () => {
    const seen: unknown[] = [];
    const tool = (name: string, input: z.ZodObject) =>
      defineTool({ name, description: '', input, execute: (args) => `${seen.push(args)}` });
    const agent = new Agent({
      model: scriptedModel([calls({ name: 'open', input: { a: 1 } }, { name: 'strict', input: { a: 1 } }), 'done']),
      tools: [tool('open', z.looseObject({ a: z.number() })), tool('strict', z.strictObject({ a: z.number() }))],
      lifecycle: [{ wrapToolCall: (call, next) => next({ ...call, additions: { a: 9, note: 'extra' } }) }],
      parallelToolCalls: false,
    });

    await agent.run('go');

    expect(seen).toEqual([{ a: 1, note: 'extra' }, { a: 1 }]);
  });

  const strict = z.strictObject({ a: z.number() });
  const closed = { type: 'object', properties: { a: {} }, additionalProperties: false };
  test.each<[string, boolean, z.ZodType | JsonSchema]>([
    ['a union of objects', true, z.union([z.looseObject({ a: z.number() }), z.looseObject({ b: z.number() })])],
    ['an empty schema', true, {}],
    ['unusual schemas', true, { anyOf: [true], oneOf: undefined, allOf: [{ anyOf: null }] }],
    ['a union of strict objects', false, z.union([strict, z.strictObject({ b: z.number() })])],
    ['a oneOf of strict objects', false, { oneOf: [closed] }],
    ['an anyOf inside of an allOf', false, { allOf: [{}, { anyOf: [{ type: 'object' }, closed] }] }],
    [
      'a union of references',
      false,
      z.union([z.object({ a: z.number() }).meta({ id: 'Open' }), strict.meta({ id: 'Strict' })]),
    ],
    ['a reference', false, { $ref: '#/$defs/A', $defs: { A: { ...closed, allOf: [{ $ref: '#/$defs/A' }] } } }],
    ['circular references', true, { anyOf: [{ $ref: '#/$defs/A' }], $defs: { A: { anyOf: [{ $ref: '#/$defs/A' }] } } }],
    ['unevaluated properties', false, { properties: { a: {} }, unevaluatedProperties: false }],
  ])('additions to %s are merged: %s', async (_title, joins, input) => {
    const seen: unknown[] = [];
    const tool = defineTool({ name: 'take', description: '', input, execute: (args) => `${seen.push(args)}` });
    const agent = new Agent({
      model: scriptedModel([calls('take', { a: 1 }), 'done']),
      tools: [{ ...tool, check: (value) => ({ value }) }],
      lifecycle: [{ wrapToolCall: (call, next) => next({ ...call, additions: { note: 'extra' } }) }],
    });

    await agent.run('go');

    expect(seen).toEqual([joins ? { a: 1, note: 'extra' } : { a: 1 }]);
  });
});

describe('arguments that are not JSON', () => {
  const raw: Omit<ToolCallPart, 'type'> = { id: 'c1', name: 'measure', input: undefined, invalidInput: '{"n": 1' };

  test('become an error result with the raw string, and the tool does not run', async () => {
    const { tool, checked } = watched();

    const { messages, text } = await new Agent({ model: scriptedModel([calls(raw), 'done']), tools: [tool] }).run('go');

    expect(text).toBe('done');
    expect(resultsIn(messages)).toEqual({ c1: '!The arguments of "measure" are no JSON: {"n": 1' });
    expect(checked).toEqual([]);
  });

  test('are shortened in the error result if they are long, and complete in events', async () => {
    const long = `{"n": "${'x'.repeat(500)}`;
    const agent = new Agent({
      model: scriptedModel([calls({ ...raw, invalidInput: long }), 'done']),
      tools: [watched().tool],
    });
    const inputs: unknown[] = [];
    agent.on('tool-start', ({ input }) => void inputs.push(input));

    const { messages } = await agent.run('go');

    expect(resultsIn(messages).c1?.length).toBeLessThan(300);
    expect(inputs).toEqual([long]);
  });

  test.each([
    ['by spreading the call', true],
    ['with a new call', false],
  ])('can be repaired by a hook, %s', async (_title, spread) => {
    const { tool, ran } = watched();
    const agent = new Agent({
      model: scriptedModel([calls(raw), 'done']),
      tools: [tool],
      lifecycle: [
        {
          wrapToolCall(call, next) {
            const { invalidInput, ...rest } = call;
            const input = JSON.parse(`${invalidInput}}`);
            return next(spread ? { ...call, input } : { ...rest, input });
          },
        },
      ],
    });

    const { messages } = await agent.run('go');

    expect(resultsIn(messages)).toEqual({ c1: 'ok' });
    expect(ran).toEqual([{ n: 1, unit: 'm' }]);
  });

  test('of an unknown tool give an error result that names the tool', async () => {
    const { messages } = await new Agent({ model: scriptedModel([calls(raw), 'done']) }).run('go');

    expect(resultsIn(messages)).toEqual({ c1: '!There is no tool "measure". No tool is offered.' });
  });
});

describe('a check', () => {
  test.each<[string, () => never | Promise<never>]>([
    [
      'throws',
      () => {
        throw new Error('broken check');
      },
    ],
    ['rejects', () => Promise.reject(new Error('broken check'))],
  ])('that %s causes an error result, and the tool does not run', async (_title, check) => {
    const ran: string[] = [];
    const tool = { ...toolOf('checked', () => void ran.push('ran')), check };

    const { messages } = await new Agent({ model: scriptedModel([calls('checked'), 'done']), tools: [tool] }).run('go');

    expect(resultsIn(messages)).toEqual({ call_1: '!broken check' });
    expect(ran).toEqual([]);
  });
});

test('the idempotency key differs between turns in which the model uses the same id', async () => {
  const keys: string[] = [];
  const pay = toolOf('pay', (_input, { idempotencyKey }) => {
    keys.push(idempotencyKey);
    return 'paid';
  });
  const turn = calls({ id: 'call_0', name: 'pay' });
  const again: AgentLifecycle = {
    async wrapToolCall(call, next) {
      await next(call);
      return next(call);
    },
  };
  const model = scriptedModel([turn, turn, 'done']);

  await new Agent({ model, tools: [pay], lifecycle: [again] }).run('go');

  const [first, repeated, second] = keys;
  expect(keys).toHaveLength(4);
  expect(repeated).toBe(first);
  expect(second).not.toBe(first);
});

describe('a tool gets a copy of its arguments, so that the conversation keeps what the model wrote,', () => {
  const sent = () => ({ text: 'x', nested: { list: [{ n: 1 }] } });
  const schemas: Readonly<Record<string, StandardSchema | JsonSchema>> = {
    'a JSON Schema': { type: 'object' },
    'a loose object of zod': z.looseObject({}),
    'any value of zod': z.object({ text: z.any(), nested: z.any() }),
    'a loose object of valibot': v.looseObject({}),
    'an object of arktype': type({ text: 'string', nested: 'object' }),
  };

  test.each(Object.entries(schemas))('with %s', async (_library, input) => {
    const edit = defineTool({
      name: 'edit',
      description: 'Edits its arguments.',
      input: input as JsonSchema,
      inputSchema: { type: 'object' },
      execute(args: ReturnType<typeof sent>) {
        args.text = 'changed';
        args.nested.list.push({ n: 2 });
        args.nested.list[0] = { n: 3 };
      },
    });

    for (const lifecycle of [[], [{ wrapToolCall: (call, next) => next(call) } satisfies AgentLifecycle]]) {
      const agent = new Agent({ model: scriptedModel([calls('edit', sent()), 'done']), tools: [edit], lifecycle });
      const { history } = await agent.run('go');

      expect(history[1]?.content).toMatchObject([{ type: 'tool-call', input: sent() }]);
      expect(resultsIn(history)).toEqual({ call_1: 'Done.' });
    }
  });
});
