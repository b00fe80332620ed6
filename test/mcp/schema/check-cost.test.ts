import { describe, expect, test } from 'vitest';
import { boundedCheck } from '../../../src/mcp/schema/bounded-check.js';
import { isCheapCheck } from '../../../src/mcp/schema/check-cost.js';
import { CheckWorker } from '../../../src/mcp/schema/check-worker.js';
import { isSmallSchema } from '../../../src/mcp/schema/schema-cost.js';
import { longestHold } from '../../support/mcp/longest-hold.js';

const many = (count: number) => Array.from({ length: count }, (_, at) => `k${at}`);
const copies = (count: number, value: unknown) => Array.from({ length: count }, () => value);
const slow = { pattern: '^(a|a)*$' };
const word = `${'a'.repeat(40)}!`;
const numbers = [...Array(20_000).keys()];

/** Nests a schema in as many schemas, each of which copies the errors of the next. */
function nested(levels: number, inner: unknown): Record<string, unknown> {
  let schema = { allOf: [inner] };
  for (let level = 1; level < levels; level++) schema = { allOf: [schema] };
  return schema;
}

/** Schemas that look cheap, because a part of them does not mean what it seems to mean. */
const disguised: Readonly<Record<string, readonly [schema: Record<string, unknown>, value: unknown]>> = {
  'a reference inside a part with an `$id`': [
    {
      $defs: { a: {}, part: { $id: 'https://example.com/part', $defs: { a: slow }, $ref: '#/$defs/a' } },
      $ref: '#/$defs/part',
    },
    word,
  ],
  'a reference inside a part with an `id`': [
    {
      $defs: { a: {}, part: { id: 'https://example.com/part', $defs: { a: slow }, $ref: '#/$defs/a' } },
      $ref: '#/$defs/part',
    },
    word,
  ],
  'an anchor that looks like a path': [
    { $defs: { a: {}, b: { $anchor: '/$defs/a', ...slow } }, $ref: '#/$defs/a' },
    word,
  ],
  'a reference with the field of the validator': [
    { $defs: { a: {}, b: slow }, $ref: '#/$defs/a', __absolute_ref__: 'https://github.com/cfworker#/$defs/b' },
    word,
  ],
  'a reference that is an array': [{ $defs: { a: slow }, $ref: ['#/$defs/a'] }, word],
  'a pattern that is an array': [{ pattern: [slow.pattern] }, word],
  'properties that are an array': [{ properties: [slow] }, { 0: word }],
  'patterns of properties that are an array': [{ patternProperties: [slow] }, { 0: word }],
  'first items that are an object': [{ prefixItems: { length: 1, 0: slow } }, [word]],
  'required names that are one string': [{ contains: { required: 'x'.repeat(200_000) } }, copies(1_000, {})],
  'required names that are arrays': [{ contains: { required: copies(10, numbers) } }, copies(1_000, {})],
  'dependent names that are one string': [
    { contains: { dependentRequired: { a: 'x'.repeat(200_000) } } },
    copies(1_000, { a: 1 }),
  ],
  'a bound that is an array': [{ contains: { minimum: numbers } }, copies(5_000, 1)],
  'a count that is an array': [{ contains: { maxProperties: numbers } }, copies(5_000, {})],
  'long names of types': [{ contains: { type: ['x'.repeat(100_000), 'y'.repeat(100_000)] } }, copies(5_000, 1)],
  'patterns for objects without properties': [
    { items: { patternProperties: Object.fromEntries(many(2_000).map((name) => [`${name}[a-z]+x`, {}])) } },
    copies(10_000, {}),
  ],
  'errors that are copied at each level': [nested(100, { required: many(15_000) }), {}],
  'dependent errors that are copied at each level': [nested(100, { dependentRequired: { a: many(15_000) } }), { a: 1 }],
  'divisions of long integers': [{ contains: { multipleOf: 5e-324 } }, copies(12_000, 1.7e308)],
};

describe('a check that looks cheap runs in the worker:', () => {
  test.each(Object.entries(disguised))('%s', async (_title, [schema, value]) => {
    expect(isSmallSchema(schema) && isCheapCheck(schema, value)).toBe(false);
    const check = boundedCheck(schema, new CheckWorker({ checkMs: 50, idleMs: 50 }));
    const settled = () => Promise.resolve(check(value)).catch((error: unknown) => error);

    expect(await longestHold(settled)).toBeLessThan(100);
  });
});

test.each([
  ['a schema with an `$id`', { $id: 'https://example.com/a', $defs: { a: { type: 'string' } }, $ref: '#/$defs/a' }],
  ['properties with the names of keywords', { properties: { id: {}, $id: {}, type: {}, required: { minLength: 1 } } }],
  ['exclusive bounds of draft 4', { items: { minimum: 1, exclusiveMinimum: true } }],
])('the main thread checks %s', (_title, schema) => {
  expect(isSmallSchema(schema)).toBe(true);
  expect(isCheapCheck(schema, { id: 'a', items: [1] })).toBe(true);
});
