import fc from 'fast-check';
import { Agent, type AgentLifecycle } from 'keelson';
import type { McpServersOptions } from 'keelson/mcp';
import { calls, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { coerceArguments } from '../../../src/mcp/tools/coerce.js';
import { compileJsonSchema } from '../../../src/tools/json-schema-check.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { connected, lab, raw } from '../../support/mcp/lab.js';
import { longestHold } from '../../support/mcp/longest-hold.js';

const integer = { type: 'integer' };
const closed = { additionalProperties: false };
const unevaluated = { unevaluatedProperties: false };
const anchored = { $anchor: 'item', properties: { a: {} } };

/** An object with a required integer. */
const needs = (name: string, more: object = {}) => ({
  ...{ type: 'object', properties: { [name]: integer, x: { type: 'string' } }, required: [name], ...more },
});
const shape = (kind: string, size: string) => ({
  ...{ type: 'object', properties: { kind: { enum: [kind] }, [size]: { type: 'number' } }, required: ['kind', size] },
});
const shapes = { anyOf: [shape('box', 'width'), shape('circle', 'r')] };
const circle = (r: unknown) => ({ u: { kind: 'circle', r } });

describe('coerceArguments', () => {
  test.each<[string, object, unknown, unknown]>([
    ['an integer', { properties: { n: integer } }, { n: '5' }, { n: 5 }],
    ['a number with spaces', { properties: { n: { type: 'number' } } }, { n: ' -2.5e1 ' }, { n: -25 }],
    ['a boolean', { properties: { b: { type: 'boolean' } } }, { b: 'True' }, { b: true }],
    ['a boolean as a number', { properties: { b: { type: 'boolean' } } }, { b: 0 }, { b: false }],
    [
      'the largest exact integer',
      { properties: { s: { type: 'string' } } },
      { s: 2 ** 53 - 1 },
      { s: `${2 ** 53 - 1}` },
    ],
    ['a string as a number', { properties: { s: { type: 'string' } } }, { s: 12 }, { s: '12' }],
    ['a list', { properties: { l: { type: 'array', items: integer } } }, { l: '["1", 2]' }, { l: [1, 2] }],
    [
      'an object',
      { properties: { o: { type: 'object', properties: { n: integer } } } },
      { o: '{"n":"1"}' },
      { o: { n: 1 } },
    ],
    ['the arguments themselves', { type: 'object', properties: { n: integer } }, '{"n":1}', { n: 1 }],
    ['null of an optional property', { properties: { n: integer } }, { n: null }, {}],
    ['an unknown property', { properties: { n: integer }, ...closed }, { n: 1, x: 2 }, { n: 1 }],
    ['a property named __proto__', { properties: {}, ...closed }, JSON.parse('{"__proto__":1}'), {}],
    ['a branch', { properties: { n: { anyOf: [integer, { type: 'null' }] } } }, { n: '5' }, { n: 5 }],
    [
      'the branch with the same constant',
      {
        properties: {
          u: {
            oneOf: [{ properties: { kind: { const: 'a' } } }, { properties: { kind: { const: 'b' }, n: integer } }],
          },
        },
      },
      { u: { kind: 'b', n: '5' } },
      { u: { kind: 'b', n: 5 } },
    ],
    [
      'the only branch for objects',
      { properties: { o: { anyOf: [{ type: 'object', properties: { n: integer } }, { type: 'null' }] } } },
      { o: { n: '5' } },
      { o: { n: 5 } },
    ],
    ['values of a map', { properties: { m: { additionalProperties: integer } } }, { m: { a: '5' } }, { m: { a: 5 } }],
    ['values of a map at the root', { additionalProperties: integer }, { a: '5', b: 1 }, { a: 5, b: 1 }],
    ['null in a map', { additionalProperties: integer }, { a: null, b: '1' }, { b: 1 }],
    ['a branch that a single value of an enum tells apart', { properties: { u: shapes } }, circle('5'), circle(5)],
    ['a branch that required properties tell apart', { anyOf: [needs('n'), needs('m')] }, { m: '5' }, { m: 5 }],
    ['a branch for closed objects', { oneOf: [needs('n', closed), needs('m', closed)] }, { n: '5' }, { n: 5 }],
    ['null inside a branch', { anyOf: [needs('n', closed), needs('m', closed)] }, { m: 5, x: null }, { m: 5 }],
    ['the branch whose bound the value has', { oneOf: [{ type: 'integer', minimum: 9 }, integer] }, '5', 5],
    [
      'a branch inside a branch',
      { anyOf: [{ type: 'null' }, { anyOf: [needs('n'), needs('m')] }] },
      { m: '5' },
      { m: 5 },
    ],
    ['all properties of an object without any', { type: 'object', ...closed }, { random_string: '' }, {}],
    [
      'a property that no part of the schema evaluates',
      {
        allOf: [{ properties: { a: {} } }],
        $ref: '#/$defs/b',
        $defs: { b: { properties: { b: {} } } },
        ...unevaluated,
      },
      { a: 1, b: 2, c: 3 },
      { a: 1, b: 2 },
    ],
    ['the rest of a tuple', { items: [{ type: 'string' }], additionalItems: integer }, ['1', '2'], ['1', 2]],
    ['a reference', { $defs: { n: integer }, properties: { n: { $ref: '#/$defs/n' } } }, { n: '5' }, { n: 5 }],
    [
      'all parts',
      { allOf: [{ properties: { n: integer } }, { properties: { m: integer } }] },
      { n: '5', m: '6' },
      { n: 5, m: 6 },
    ],
    ['an enum of numbers', { properties: { n: { enum: [1, 2] } } }, { n: '2' }, { n: 2 }],
    [
      'positions of a tuple',
      { properties: { t: { type: 'array', prefixItems: [integer, { type: 'string' }] } } },
      { t: ['1', '1'] },
      { t: [1, '1'] },
    ],
  ])('converts %s', (...[, schema, input, expected]) => {
    expect(coerceArguments(schema as never, input)).toEqual(expected);
  });

  test.each<[string, object, unknown]>([
    ['a string without a number', { properties: { n: integer } }, { n: 'five' }],
    ['a fraction for an integer', { properties: { n: integer } }, { n: '5.5' }],
    ['digits that a number cannot hold', { properties: { n: integer } }, { n: '12345678901234567890' }],
    ['a number whose digits are lost', { properties: { s: { type: 'string' } } }, { s: 2 ** 60 }],
    ['such a number in a list', { properties: { l: { items: { type: 'string' } } } }, { l: [2 ** 60] }],
    ['a list with digits that a number cannot hold', { items: { type: 'array' } }, ['[1, 1234567890123456789]']],
    ['an object with such digits', { properties: { o: { type: 'object' } } }, { o: '{"a":[{"id":9007199254740993}]}' }],
    ['arguments with such digits', { type: 'object' }, '{"id":-1234567890123456789}'],
    ['an empty string', { properties: { n: integer } }, { n: '' }],
    ['null of a required property', { properties: { n: integer }, required: ['n'] }, { n: null }],
    ['null that the schema allows', { properties: { n: { type: ['integer', 'null'] } }, ...closed }, { n: null }],
    ['nullable of OpenAPI', { properties: { n: { type: 'integer', nullable: true } } }, { n: null }],
    ['a string that the schema allows', { properties: { v: { type: ['string', 'integer'] } } }, { v: '5' }],
    ['an unknown property that the schema allows', { properties: { n: integer } }, { x: null }],
    ['null of OpenAPI in an enum', { properties: { n: { enum: ['a'], nullable: true } } }, { n: null }],
    ['a value that passes the second branch', { anyOf: [needs('n', closed), needs('m')] }, { m: 5, y: null }],
    ['a value that passes no branch', { anyOf: [needs('n'), needs('m')] }, { n: 'many' }],
    [
      'a value behind an anchor',
      { properties: { i: { $ref: '#item' } }, $defs: { item: anchored }, ...closed },
      { i: { a: 1 } },
    ],
    ['a property behind an anchor', { $ref: '#item', $defs: { item: anchored }, ...unevaluated }, { a: 1 }],
    [
      'a value behind a path inside a part with an `$id`',
      {
        $defs: {
          p: { $id: 'https://example.com/p', $defs: { a: {} }, properties: { v: { $ref: '#/$defs/a' } } },
          a: closed,
        },
      },
      { v: { b: 1 } },
    ],
    [
      'null behind an anchor',
      { properties: { n: { $ref: '#n' } }, $defs: { n: { $anchor: 'n', type: 'null' } } },
      { n: null },
    ],
    [
      'an unknown property that a branch may have',
      { anyOf: [{ properties: { a: {} } }, {}], ...unevaluated },
      { a: 1 },
    ],
    ['a value whose name may match a pattern', { patternProperties: { '^a': integer } }, { a1: '5' }],
    ['a value whose type one branch declares', { anyOf: [integer, { type: 'string' }] }, '5'],
    ['a value that one branch leaves open', { anyOf: [integer, {}] }, '5'],
    ['an invalid pattern', { patternProperties: { '[': {} }, ...closed }, { a: 1 }],
    ['a slow pattern', { patternProperties: { '^(a|a)*$': {} }, ...closed }, { [`${'a'.repeat(40)}!`]: 1 }],
    ['properties that a pattern may allow', { properties: {}, patternProperties: { '^x': {} }, ...closed }, { x1: 1 }],
    ['a string with invalid JSON', { properties: { l: { type: 'array' } } }, { l: '[1,' }],
    ['endless references', { $ref: '#' }, { a: 1 }],
    ['references that double', { allOf: [{ $ref: '#' }, { $ref: '#' }] }, { a: 1 }],
  ])('leaves %s unchanged', (_title, schema, input) => {
    expect(coerceArguments(schema as never, input)).toBe(input);
  });

  test('never changes arguments that the schema accepts', () => {
    const schema = {
      type: 'object' as const,
      properties: {
        n: integer,
        s: { type: 'string' },
        b: { type: ['boolean', 'null'] },
        l: { type: 'array', items: { anyOf: [integer, { type: 'string' }] } },
        m: { additionalProperties: { anyOf: [needs('n', closed), { type: ['integer', 'null'] }] } },
      },
      required: ['s'],
      ...closed,
    };
    const check = compileJsonSchema(schema);
    const value = fc.oneof(
      fc.integer(),
      fc.string(),
      fc.constantFrom('1', 'true', 'null', null, true),
      fc.array(fc.anything()),
      fc.dictionary(
        fc.constantFrom('a', 'b'),
        fc.constantFrom(null, 1, '1', {}, { n: 1 }, { n: 1, x: 'a' }, { n: '1' }),
      ),
    );
    const input = fc.dictionary(fc.constantFrom('n', 's', 'b', 'l', 'm', 'x'), value);
    fc.assert(
      fc.property(input, (given) => {
        if (check(given).issues === undefined) expect(coerceArguments(schema, given)).toBe(given);
      }),
    );
  });
});

const tools = [
  { name: 'add', inputSchema: { type: 'object', properties: { n: integer, force: { type: 'boolean' } }, ...closed } },
];

/** Runs one call of `add`, and returns its result, the decisions and the inputs that a guard saw. */
async function runCall(input: object, options: McpServersOptions = {}) {
  const { mcp } = lab({ servers: { a: raw({ tools }) }, ...options });
  const seen: unknown[] = [];
  const guard: AgentLifecycle = {
    name: 'guard',
    wrapToolCall(call, next) {
      seen.push(call.input);
      return next();
    },
  };
  const model = scriptedModel([calls('mcp__a__add', input), says('done')]);
  await using agent = new Agent({ model, loaders: [mcp], lifecycle: [guard], logger: keepingLogger() });
  const { decisions, messages } = await agent.run('go');
  const [part] = messages.find(({ role }) => role === 'tool')?.content ?? [];
  return { part, decisions, seen };
}

describe('the option `checkArguments`', () => {
  const bent = { n: '5', force: 'true', x: 1 };

  test('converts arguments before the guards of the agent, and records the change', async () => {
    const { part, decisions, seen } = await runCall(bent);

    expect(part).toMatchObject({ content: 'echo: {"n":5,"force":true}' });
    expect(seen).toEqual([{ n: 5, force: true }]);
    expect(decisions).toMatchObject([
      {
        ...{ type: 'modify', by: 'mcp', point: 'wrapModelCall' },
        before: { content: [{ input: bent }] },
        after: { content: [{ input: { n: 5, force: true } }] },
      },
    ]);
  });

  test('`strict` refuses what the schema refuses', async () => {
    const { part, seen } = await runCall(bent, { checkArguments: 'strict' });

    expect(part).toMatchObject({ isError: true, content: expect.stringContaining('are not valid') });
    expect(seen).toEqual([bent]);
  });

  test('`off` leaves the check to the server', async () => {
    const { part, decisions } = await runCall(bent, { checkArguments: 'off' });

    expect(part).toMatchObject({ content: `echo: ${JSON.stringify(bent)}` });
    expect(decisions).toEqual([]);
  });

  test('leaves arguments that are invalid after the conversion to the server', async () => {
    const { part } = await runCall({ n: 'many' });

    expect(part).toMatchObject({ content: 'echo: {"n":"many"}' });
  });

  test('refuses arguments that are not an object, which a server could not read', async () => {
    const model = scriptedModel([calls('mcp__a__add', [1] as never), says('done')]);
    const { mcp } = lab({ servers: { a: raw({ tools }) } });
    await using agent = new Agent({ model, loaders: [mcp], logger: keepingLogger() });

    const { messages } = await agent.run('go');

    expect(messages.find(({ role }) => role === 'tool')?.content).toMatchObject([
      { isError: true, content: expect.stringContaining('must be an object') },
    ]);
  });

  test('shared tools send the arguments as they are, unless `coerce` or `strict` is set', async () => {
    for (const [checkArguments, content] of [
      [undefined, `echo: ${JSON.stringify(bent)}`],
      ['coerce', 'echo: {"n":5,"force":true}'],
      ['strict', expect.stringContaining('are not valid')],
    ] as const) {
      const { mcp } = await connected({ servers: { a: raw({ tools }) }, checkArguments });
      const model = scriptedModel([calls('mcp__a__add', bent), says('done')]);
      await using agent = new Agent({ model, tools: mcp.tools });

      const { messages } = await agent.run('go');

      expect(messages.find(({ role }) => role === 'tool')?.content).toMatchObject([{ content }]);
    }
  });

  test('arguments that a hook has changed are converted after the hook, and the change is recorded', async () => {
    const { mcp } = lab({ servers: { a: raw({ tools }) } });
    const model = scriptedModel([calls('mcp__a__add', { n: 1 }), says('done')]);
    const hook: AgentLifecycle = { name: 'hook', wrapToolCall: (call, next) => next({ ...call, input: bent }) };
    await using agent = new Agent({ model, loaders: [mcp], lifecycle: [hook], logger: keepingLogger() });

    const { decisions, messages } = await agent.run('go');

    expect(JSON.stringify(messages)).toContain('echo: {');
    expect(decisions).toMatchObject([
      { type: 'modify', by: 'hook', before: { n: 1 }, after: bent },
      { type: 'modify', by: 'mcp', before: bent, after: { n: 5, force: true } },
    ]);
  });
});

test.each([
  ['values', { items: { enum: Array.from({ length: 20_000 }, (_, at) => `v${at}`) } }],
  ['names of types', { items: { type: Array.from({ length: 20_000 }, (_, at) => `t${at}`) } }],
])('a conversion with many %s does not hold the thread', { timeout: 60_000 }, async (_what, schema) => {
  const numbers = [...Array(20_000).keys()];

  expect(await longestHold(() => coerceArguments(schema, numbers))).toBeLessThan(100);
});

test.each<[string, object, unknown]>([
  ['branches', { items: { anyOf: Array.from({ length: 50 }, (_, at) => needs(`k${at}`, closed)) } }, [{ k49: '5' }]],
  [
    'patterns',
    { items: { patternProperties: { '^[a-z]+x': {}, '[a-z]*y$': {} }, ...closed } },
    [{ ['a'.repeat(200)]: 1 }],
  ],
  ['references', { $defs: { n: integer, d: { $ref: '#/$defs/n' } }, items: { $ref: '#/$defs/d' } }, ['5']],
])('a conversion by many %s does not hold the thread', { timeout: 60_000 }, async (_what, schema, input) => {
  const values = Array.from({ length: 20_000 }, () => (input as unknown[])[0]);

  expect(await longestHold(() => coerceArguments({ ...schema }, values))).toBeLessThan(100);
});
