import { describe, expect, test } from 'vitest';
import type { JsonSchema } from '../../../../src/internal/json.js';
import { toDraft2020 } from '../../../../src/providers/shared/tools/draft-2020.js';

const string = { type: 'string' };

test.each<[string, JsonSchema, JsonSchema]>([
  [
    'an array without items',
    { properties: { a: { type: 'array' } } },
    { properties: { a: { type: 'array', items: {} } } },
  ],
  [
    'a nested array',
    { properties: { a: { type: 'array', items: { anyOf: [{ type: ['array', 'null'] }, string] } } } },
    { properties: { a: { type: 'array', items: { anyOf: [{ type: ['array', 'null'], items: {} }, string] } } } },
  ],
  ['an array in definitions', { $defs: { a: { type: 'array' } } }, { $defs: { a: { type: 'array', items: {} } } }],
  [
    'an array of other properties',
    { additionalProperties: { type: 'array' } },
    { additionalProperties: { type: 'array', items: {} } },
  ],
  [
    'an array with items: true',
    { properties: { a: { type: 'array', items: true } } },
    { properties: { a: { type: 'array', items: {} } } },
  ],
  [
    'a tuple',
    { properties: { a: { type: 'array', items: [string] } } },
    { properties: { a: { type: 'array', prefixItems: [string], items: {} } } },
  ],
  [
    'a tuple with a type for the other entries',
    { properties: { a: { items: [string], additionalItems: string } } },
    { properties: { a: { prefixItems: [string], items: string } } },
  ],
  [
    'exclusive bounds of draft 4',
    { properties: { n: { minimum: 1, exclusiveMinimum: true, maximum: 5, exclusiveMaximum: false } } },
    { properties: { n: { exclusiveMinimum: 1, maximum: 5 } } },
  ],
])('rewrites %s', (...[, schema, expected]) => {
  expect(toDraft2020(schema)).toEqual(expected);
});

test.each<[string, JsonSchema]>([
  ['a schema of draft 2020-12', { properties: { a: { type: 'array', items: string } }, required: ['a'] }],
  ['values that look like schemas', { properties: { a: { default: { type: 'array' }, enum: [{ type: 'array' }] } } }],
  ['a property named items', { properties: { items: string, type: string } }],
  ['a tuple without further entries', { properties: { a: { type: 'array', prefixItems: [string], items: false } } }],
])('returns %s itself', (_title, schema) => {
  expect(toDraft2020(schema)).toBe(schema);
});

test('returns an equal result for a repeated schema', () => {
  const schema = { properties: { a: { type: 'array' } } };

  expect(toDraft2020(schema)).toBe(toDraft2020(schema));
});

describe('a reference into a tuple of an older draft', () => {
  test.each([
    ['an entry', '#/properties/list/items/0', '#/properties/list/prefixItems/0'],
    ['a schema inside an entry', '#/properties/list/items/0/items/1', '#/properties/list/prefixItems/0/prefixItems/1'],
    ['the other entries', '#/properties/list/additionalItems', '#/properties/list/items'],
    ['a property named items', '#/properties/items', '#/properties/items'],
    ['an unknown keyword', '#/x-parts/items/0', '#/x-parts/items/0'],
  ])('means %s afterwards too', (_title, before, after) => {
    const list = { items: [{ items: [string, string] }], additionalItems: string };
    const schema = { properties: { list, items: string, other: { $ref: before } }, 'x-parts': { items: [string] } };

    expect(toDraft2020(schema)).toHaveProperty(['properties', 'other', '$ref'], after);
  });

  test('begins at the nearest schema with an id', () => {
    const inside = { $id: 'https://a.example/b', items: [string], not: { $ref: '#/items/0' } };

    expect(toDraft2020({ $defs: { inside } })).toHaveProperty(['$defs', 'inside', 'not', '$ref'], '#/prefixItems/0');
  });
});
