import { describe, expect, test } from 'vitest';
import { defaultLimits } from '../../../src/mcp/config/settings.js';
import { readTools } from '../../../src/mcp/server/tool-list.js';
import { longestHold } from '../../support/mcp/longest-hold.js';

type Schema = Readonly<Record<string, unknown>>;

const record = (count: number, value: (at: number) => unknown, name = (at: number) => `p${at}`) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [name(at), value(at)]));
const list = (count: number, value: unknown) => Array.from({ length: count }, () => value);

/** Schemas with fewer characters than the limit. */
const large: Readonly<Record<string, () => Schema>> = {
  properties: () => ({ type: 'object', properties: record(3_500, () => ({ type: 'string' })) }),
  allOf: () => ({ type: 'object', allOf: list(4_500, { type: 'object' }) }),
  dependentRequired: () => ({ type: 'object', dependentRequired: record(4_500, () => ['q']) }),
  $anchor: () => ({ type: 'object', $defs: record(3_000, (at) => ({ $anchor: `a${at}` })) }),
  patternProperties: () => ({
    ...{
      type: 'object',
      patternProperties: record(
        4_000,
        () => ({}),
        (at) => `^(a|a)*x${at}$`,
      ),
    },
  }),
  $ref: () => ({
    ...{ type: 'object', $defs: { a: {} }, properties: record(3_000, () => ({ $ref: '#/$defs/a' })) },
  }),
  'deep levels': () => {
    let schema: Schema = { type: 'string' };
    for (let level = 0; level < 28; level++) schema = { anyOf: [schema, ...list(100, { type: 'null' })] };
    return { type: 'object', properties: { a: schema, ...record(1_500, () => ({})) } };
  },
};

function read(entries: readonly unknown[], signal = new AbortController().signal): ReturnType<typeof readTools> {
  return readTools(entries, { limits: defaultLimits, excludeTools: [], signal });
}

function entriesOf(schema: () => Schema, count: number): readonly unknown[] {
  return Array.from({ length: count }, (_, at) => ({ name: `t${at}`, inputSchema: schema(), outputSchema: schema() }));
}

describe('reading a list of tools with large schemas', () => {
  test.each(Object.entries(large))('does not hold the thread: %s', { timeout: 60_000 }, async (_keyword, schema) => {
    expect(JSON.stringify(schema()).length).toBeLessThan(defaultLimits.schemaLength);
    const entries = entriesOf(schema, 2);
    let found: Awaited<ReturnType<typeof readTools>> | undefined;

    expect(
      await longestHold(async () => {
        found = await read(entries);
      }),
    ).toBeLessThan(100);
    expect([found?.specs.size, found?.warnings]).toEqual([2, []]);
  });

  test('does not hold the thread if each of many schemas is small', { timeout: 60_000 }, async () => {
    const entries = entriesOf(() => ({ type: 'object', properties: record(40, () => ({ type: 'string' })) }), 400);

    expect(await longestHold(() => read(entries))).toBeLessThan(100);
  });

  test('ends with its abort signal', async () => {
    const controller = new AbortController();
    const reason = new RangeError('no longer needed');
    const reading = read(entriesOf(large.properties as () => Schema, 50), controller.signal);
    setTimeout(() => controller.abort(reason), 20);

    await expect(reading).rejects.toBe(reason);
  });
});

describe('a large schema has the same problem as a small one', () => {
  const bulk = { properties: record(3_500, () => ({ type: 'string' })) };

  test.each<[string, Schema]>([
    ['a keyword with an invalid value', { required: 'a' }],
    ['a pattern that is not a string', { patternProperties: { a: { pattern: 1 } } }],
    ['a reference to a missing schema', { $ref: '#/$defs/none' }],
    ['a reference outside', { allOf: [{ $ref: 'https://example.com/a' }] }],
  ])('%s', async (_title, part) => {
    const { warnings } = await read([
      { name: 't', inputSchema: { type: 'object', ...part } },
      { name: 't', inputSchema: { type: 'object', ...bulk, ...part } },
    ]);

    expect(warnings[0]).toMatch(/^tool "t" is skipped: its input schema/);
    expect(warnings[1]).toBe(warnings[0]);
  });

  test('an invalid URI', async () => {
    const { warnings } = await read([{ name: 't', inputSchema: { type: 'object', ...bulk, $id: 'http://[' } }]);

    expect(warnings).toEqual(['tool "t" is skipped: its input schema is invalid: Invalid URL']);
  });
});
