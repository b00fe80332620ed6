import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import fc from 'fast-check';
import type { Tool } from 'keelson';
import { describe, expect, test } from 'vitest';
import { defaultLimits } from '../../../src/mcp/config/settings.js';
import { toMcpTool } from '../../../src/mcp/tools/mcp-tool.js';
import { type McpToolSpec, readToolSpec } from '../../../src/mcp/tools/spec.js';
import { growth } from '../../support/growth.js';
import { connected, raw } from '../../support/mcp/lab.js';

type Schema = Record<string, unknown>;

function spec(inputSchema: unknown, more: object = {}): McpToolSpec {
  const read = readToolSpec({ name: 'tool', inputSchema, ...more }, defaultLimits);
  if ('problem' in read) throw new Error(read.problem);
  return read;
}

function convert(inputSchema: unknown, more: object = {}): Tool {
  return toMcpTool(spec(inputSchema, more), { server: 'server', call: () => Promise.resolve({}), warn: () => {} });
}

async function accepts(tool: Tool, input: unknown): Promise<boolean> {
  return (await tool.check(input)).issues === undefined;
}

const object = (properties: Schema, more: Schema = {}): Schema => ({ type: 'object', properties, ...more });

/** Schemas by title, each with valid and invalid inputs. */
const corpus: Readonly<Record<string, readonly [schema: Schema, inputs: readonly unknown[]]>> = {
  'nothing in particular': [{ type: 'object' }, [{}, { a: 1 }, [], 'x', null, 1]],
  string: [
    object({ a: { type: 'string', minLength: 2, maxLength: 3, pattern: '^a' } }),
    [{ a: 'ab' }, { a: 'abcd' }, { a: 1 }, { a: 'b' }, {}],
  ],
  number: [
    object({ a: { type: 'number', minimum: 0, exclusiveMaximum: 2 } }),
    [{ a: 0.5 }, { a: 2 }, { a: '1' }, { a: -1 }],
  ],
  integer: [object({ a: { type: 'integer', multipleOf: 3 } }), [{ a: 3 }, { a: 3.5 }, { a: 4 }, { a: 3.0 }]],
  boolean: [object({ a: { type: 'boolean' } }), [{ a: true }, { a: 'true' }, { a: 0 }]],
  null: [object({ a: { type: 'null' } }), [{ a: null }, { a: 0 }, {}]],
  'several types': [object({ a: { type: ['string', 'null'] } }), [{ a: 'x' }, { a: null }, { a: 1 }]],
  array: [
    object({ a: { type: 'array', items: { type: 'string' }, minItems: 1, uniqueItems: true } }),
    [{ a: ['x'] }, { a: [] }, { a: ['x', 'x'] }, { a: [1] }, { a: 'x' }],
  ],
  nested: [
    object({ a: object({ b: object({ c: { type: 'number' } }, { required: ['c'] }) }, { required: ['b'] }) }),
    [{ a: { b: { c: 1 } } }, { a: { b: {} } }, { a: {} }, {}],
  ],
  enum: [
    object({ a: { enum: ['x', 1, null] }, b: { const: { k: [1] } } }),
    [{ a: 'x' }, { a: 1 }, { a: '1' }, { b: { k: [1] } }, { b: { k: [2] } }],
  ],
  required: [object({ a: {}, b: {} }, { required: ['a'] }), [{ a: 1 }, { b: 1 }, { a: null, b: 1 }, {}]],
  closed: [object({ a: {} }, { additionalProperties: false }), [{ a: 1 }, { a: 1, b: 1 }, {}]],
  'a map': [{ type: 'object', additionalProperties: { type: 'number' } }, [{ x: 1 }, { x: 'y' }, {}]],
  'patterns of names': [
    { type: 'object', patternProperties: { '^n_': { type: 'number' } }, additionalProperties: false },
    [{ n_a: 1 }, { n_a: 'x' }, { s: 1 }],
  ],
  anyOf: [
    object({ a: { anyOf: [{ type: 'string' }, { type: 'number', minimum: 5 }] } }),
    [{ a: 'x' }, { a: 6 }, { a: 4 }, { a: null }],
  ],
  oneOf: [
    object({
      a: {
        oneOf: [
          { type: 'number', multipleOf: 2 },
          { type: 'number', multipleOf: 3 },
        ],
      },
    }),
    [{ a: 2 }, { a: 3 }, { a: 6 }, { a: 1 }],
  ],
  allOf: [object({ a: { allOf: [{ minimum: 1 }, { maximum: 2 }] } }), [{ a: 1 }, { a: 3 }, { a: 'x' }]],
  not: [object({ a: { not: { type: 'string' } } }), [{ a: 1 }, { a: 'x' }]],
  'if, then, else': [
    {
      type: 'object',
      if: { properties: { k: { const: 'a' } } },
      ...Object.fromEntries([['then', { required: ['x'] }]]),
      else: { required: ['y'] },
    },
    [{ k: 'a', x: 1 }, { k: 'a' }, { k: 'b', y: 1 }, { k: 'b', x: 1 }],
  ],
  'a reference': [
    object({ a: { $ref: '#/$defs/pos' } }, { $defs: { pos: { type: 'number', minimum: 0 } } }),
    [{ a: 1 }, { a: -1 }, { a: 'x' }],
  ],
  'a tree': [
    object(
      { root: { $ref: '#/definitions/node' } },
      {
        definitions: {
          node: object(
            { name: { type: 'string' }, kids: { type: 'array', items: { $ref: '#/definitions/node' } } },
            { required: ['name'] },
          ),
        },
      },
    ),
    [{ root: { name: 'a', kids: [{ name: 'b' }] } }, { root: { name: 'a', kids: [{}] } }, { root: {} }],
  ],
  itself: [object({ child: { $ref: '#' }, n: { type: 'number' } }), [{ n: 1, child: { n: 2 } }, { child: { n: 'x' } }]],
  sizes: [{ type: 'object', minProperties: 1, maxProperties: 2 }, [{}, { a: 1 }, { a: 1, b: 1, c: 1 }]],
  'names of properties': [{ type: 'object', propertyNames: { maxLength: 2 } }, [{ ab: 1 }, { abc: 1 }]],
  contains: [
    object({ a: { type: 'array', contains: { type: 'number' } } }),
    [{ a: ['x', 1] }, { a: ['x'] }, { a: [] }],
  ],
  'always and never': [object({ a: true, b: false }), [{ a: 1 }, { b: 1 }, {}]],
};

describe('S0-9.1: a converted schema accepts exactly what a reference validator accepts for the original', () => {
  const reference = new AjvJsonSchemaValidator();

  test.each(Object.entries(corpus))('%s', async (_title, [schema, inputs]) => {
    const tool = convert(schema);
    const original = reference.getValidator(schema);

    const ours = await Promise.all(inputs.map((input) => accepts(tool, input)));

    expect(ours).toEqual(inputs.map((input) => original(input).valid));
    // Fails if the converted schema accepts every input, or no input.
    expect(new Set(ours).size).toBe(2);
  });

  test('any object and any schema of simple fields', async () => {
    const field = fc.constantFrom<Schema>(
      ...[
        { type: 'string' },
        { type: 'integer', minimum: 0 },
        { type: 'boolean' },
        { type: 'null' },
        { enum: ['a', 2] },
      ],
      ...[{ type: 'array', items: { type: 'number' } }, { anyOf: [{ type: 'string' }, { type: 'null' }] }],
    );
    // No names of Object.prototype: the reference validator counts inherited properties as part of the input.
    const name = fc.constantFrom('a', 'b', 'c', 'd e', '$ref');
    const schemas = fc.record({
      properties: fc.dictionary(name, field),
      required: fc.uniqueArray(name),
      additionalProperties: fc.constantFrom(true, false),
    });
    const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.array(fc.integer()));
    await fc.assert(
      fc.asyncProperty(schemas, fc.dictionary(name, value), async (parts, input) => {
        const schema = { type: 'object', ...parts };
        expect(await accepts(convert(schema), input)).toBe(reference.getValidator(schema)(input).valid);
      }),
      { numRuns: 100 },
    );
  });
});

describe('S0-9.2: a converted schema keeps the type of a parameter:', () => {
  const types: readonly (readonly [type: Schema, right: unknown, wrong: unknown])[] = [
    [{ type: 'string' }, 'x', 1],
    [{ type: 'number' }, 1.5, '1.5'],
    [{ type: 'integer' }, 1, 1.5],
    [{ type: 'boolean' }, false, 'false'],
    [{ type: 'array', items: { type: 'string' } }, ['x'], [1]],
    [{ type: 'object', properties: { k: { type: 'string' } } }, { k: 'x' }, { k: 1 }],
    [{ enum: ['a', 'b'] }, 'a', 'c'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, null, 1],
    [{ type: 'null' }, null, 0],
  ];

  test.each(types)('%j', async (type, right, wrong) => {
    const tool = convert(object({ a: { description: 'what', default: right, ...type } }));

    expect(tool.inputSchema).toEqual(object({ a: { description: 'what', default: right, ...type } }));
    expect([await accepts(tool, { a: right }), await accepts(tool, { a: wrong })]).toEqual([true, false]);
  });
});

test('S0-9.3: a converted schema keeps required and optional parameters', async () => {
  const names = fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(names, fc.func(fc.boolean()), async (all, pick) => {
      const required = all.filter((name) => pick(name));
      const schema = object(Object.fromEntries(all.map((name) => [name, { type: 'string' }])), { required });
      const tool = convert(JSON.parse(JSON.stringify(schema)));
      const inputOf = (chosen: readonly string[]) => Object.fromEntries(chosen.map((name) => [name, 'x']));

      expect(tool.inputSchema).toEqual(schema);
      expect(await accepts(tool, inputOf(required))).toBe(true);
      expect(await accepts(tool, inputOf(all))).toBe(true);
      for (const name of required) {
        expect(await accepts(tool, inputOf(all.filter((other) => other !== name)))).toBe(false);
      }
    }),
  );
});

test('S0-9.4: a converted tool names its server and keeps its annotations', () => {
  const annotations = {
    title: 'T',
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: true,
    openWorldHint: false,
  };
  const tool = convert(object({}), { description: 'Does.', annotations: { ...annotations, other: 1 } });

  expect(tool).toMatchObject({
    ...{ name: 'mcp__server__tool', description: '[MCP server "server"] Does.', origin: 'mcp:server' },
    metadata: { mcpServer: 'server', mcpTool: 'tool' },
    annotations: { title: 'T', readOnly: false, destructive: true, idempotent: true, openWorld: false },
  });
  expect(convert(object({})).annotations).toBe(undefined);
  expect(convert(object({}), { title: 'Own', annotations }).annotations).toMatchObject({ title: 'Own' });
  expect(convert(object({}), { title: null, annotations }).annotations).toMatchObject({ title: 'T' });
});

test('accepts null for optional fields of a tool', () => {
  const nothing = { description: null, title: null, annotations: null, outputSchema: null, icons: null, _meta: null };

  expect(convert(object({}), nothing)).toMatchObject({
    name: 'mcp__server__tool',
    description: '[MCP server "server"]',
  });
});

describe('S0-9.5: the schema of a tool', () => {
  test('skips only the tool with an invalid schema, and logs one warning', async () => {
    const tools = [
      { name: 'one', inputSchema: object({}) },
      { name: 'bad', inputSchema: { type: 'object', properties: { a: { type: 'strin' } } } },
      { name: 'two', inputSchema: object({}) },
    ];
    const { mcp, logger } = await connected({ servers: { raw: raw({ tools }) } });

    expect(mcp.tools.list().map(({ metadata }) => metadata.mcpTool)).toEqual(['one', 'two']);
    expect(logger.lines.filter((line) => line.startsWith('warn'))).toEqual([
      'warn: MCP server "raw": tool "bad" is skipped: its input schema is invalid at `properties.a.type`: Instance does not match any subschemas.',
    ]);
  });

  const deep = JSON.parse(`${'{"type":"object","not":'.repeat(5_000)}true${'}'.repeat(5_000)}`);
  const bad: readonly unknown[] = [
    ...[undefined, null, 'object', 1, [], true, {}, { type: 'string' }, { type: ['object'] }],
    ...[
      { properties: [] },
      { properties: { a: 1 } },
      { properties: { a: null } },
      { required: 'a' },
      { required: [1] },
    ],
    ...[
      { properties: { a: { required: true } } },
      { properties: { a: { type: [] } } },
      { properties: { a: { enum: 'x' } } },
    ],
    ...[{ properties: { a: { pattern: 1 } } }, { patternProperties: ['a'] }, { allOf: [] }, { anyOf: {} }],
    ...[
      { properties: { a: { minimum: '1' } } },
      { properties: { a: { minLength: -1 } } },
      { additionalProperties: 'no' },
    ],
    ...[{ properties: { a: { $ref: '#/$defs/none' } } }, { properties: { a: { $ref: 'https://evil.example/x' } } }],
    ...[{ properties: { a: { $ref: 1 } } }, { $ref: '#/definitions/%' }, { items: [] }, { not: 1 }, { multipleOf: 0 }],
    deep,
  ].map((schema) =>
    isPlain(schema) && !('type' in schema) && Object.keys(schema).length > 0 ? { type: 'object', ...schema } : schema,
  );

  test.each(bad.map((schema, index) => [index, schema] as const))(
    'reports a problem for invalid schema number %i',
    (_index, schema) => {
      expect(problemOf(schema)).toMatch(/^its (input )?schema/);
    },
  );

  test.each(Object.entries(corpus))('reports no problem for a valid schema: %s', (_title, [schema]) => {
    expect(problemOf(schema)).toBe(undefined);
  });

  test('refuses a very large schema in linear time', async () => {
    const wide = (size: number) => object(Object.fromEntries(Array.from({ length: size }, (_, at) => [`p${at}`, {}])));
    const check = (size: number) => {
      const schema = wide(size);
      return () => problemOf(schema);
    };

    expect(problemOf(wide(30_000))).toMatch(/^its schema has \d+ characters, more than/);
    expect(await growth(1_875, check)).toBeLessThan(100);
  });

  test('checks a schema with exponentially many references in bounded time', async () => {
    const twice = ($ref: string) => ({ allOf: [{ $ref }, { $ref }] });
    const levels = Array.from({ length: 60 }, (_, level) => [`n${level + 1}`, twice(`#/$defs/n${level}`)]);
    const doubling = object({}, { ...twice('#/$defs/n60'), $defs: { n0: {}, ...Object.fromEntries(levels) } });
    const node = object({ a: { $ref: '#' } });
    const data = Array.from({ length: 60 }).reduce<object>((a) => ({ a }), {});
    const tool = toMcpTool(spec(object({}), { outputSchema: { allOf: [node, node] } }), {
      server: 'server',
      call: () => Promise.resolve({ structuredContent: data }),
      warn: (problem) => void warnings.push(problem),
    });
    const warnings: string[] = [];

    const { issues } = await convert(doubling).check({});
    const result = await tool.execute({}, { signal: new AbortController().signal } as never);

    expect(issues).toEqual([{ message: 'It takes too long to be checked.', path: [] }]);
    expect(result).not.toHaveProperty('structured');
    expect(warnings).toEqual([expect.stringContaining('too long')]);
  }, 30_000);

  test('reads any value that a server lists as a tool or a problem, without a throw', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), (entry) => {
        const spec = readToolSpec(entry, defaultLimits);
        expect('problem' in spec || typeof spec.name === 'string').toBe(true);
      }),
    );
  });
});

function problemOf(inputSchema: unknown): string | undefined {
  const read = readToolSpec({ name: 'tool', inputSchema }, defaultLimits);
  return 'problem' in read ? read.problem : undefined;
}

function isPlain(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
