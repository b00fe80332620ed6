import { describe, expect, test } from 'vitest';
import type { JsonSchema } from '../../../src/internal/json.js';
import { acceptedParameters } from '../../../src/providers/anthropic/property-names.js';

const string = { type: 'string' };

test.each<[string, JsonSchema, JsonSchema]>([
  [
    'a reference to the property',
    { properties: { $filter: string, b: { $ref: '#/properties/$filter' } } },
    { properties: { _filter: string, b: { $ref: '#/properties/_filter' } } },
  ],
  [
    'an encoded reference into the property',
    { properties: { 'a b': { properties: { $x: string } }, c: { $ref: '#/properties/a%20b/properties/$x' } } },
    { properties: { a_b: { properties: { $x: string } }, c: { $ref: '#/properties/a_b/properties/$x' } } },
  ],
  [
    'the names that a property depends on',
    {
      properties: { $top: {}, b: {} },
      dependentRequired: { $top: ['b'], b: ['$top'] },
      dependencies: { $top: ['$top'], b: { required: ['$top'] } },
      dependentSchemas: { $top: { required: ['$top'], properties: { b: { const: 1 } } } },
    },
    {
      properties: { _top: {}, b: {} },
      dependentRequired: { _top: ['b'], b: ['_top'] },
      dependencies: { _top: ['_top'], b: { required: ['_top'] } },
      dependentSchemas: { _top: { required: ['_top'], properties: { b: { const: 1 } } } },
    },
  ],
  [
    'the names in conditions, and references into them',
    {
      properties: { $a: {}, b: { $ref: '#/then/allOf/0/properties/$a' } },
      if: { properties: { $a: { const: 1 } }, required: ['$a'] },
      ...JSON.parse('{"then":{"allOf":[{"properties":{"$a":{"maximum":2}}}]},"else":false}'),
    },
    {
      properties: { _a: {}, b: { $ref: '#/then/allOf/0/properties/_a' } },
      if: { properties: { _a: { const: 1 } }, required: ['_a'] },
      ...JSON.parse('{"then":{"allOf":[{"properties":{"_a":{"maximum":2}}}]},"else":false}'),
    },
  ],
  [
    'alternatives at the root, which the description quotes',
    { properties: { $a: string }, anyOf: [{ required: ['$a'] }, { properties: { b: { $ref: '#/properties/$a' } } }] },
    {
      description:
        'The arguments must also match this JSON Schema: {"anyOf":[{"required":["_a"]},{"properties":{"b":{"$ref":"#/properties/_a"}}}]}',
      properties: { _a: string, b: { $ref: '#/properties/_a' } },
    },
  ],
  [
    'properties of a definition at the root',
    { $ref: '#/$defs/all', $defs: { all: { properties: { $a: string }, required: ['$a'] } } },
    {
      description: 'The arguments must also match this JSON Schema: {"$ref":"#/$defs/all"}',
      $defs: { all: { properties: { $a: string }, required: ['$a'] } },
      properties: { _a: string },
      required: ['_a'],
    },
  ],
  [
    'no restriction of the names',
    { properties: { $a: {} }, propertyNames: { pattern: '^\\$' } },
    { properties: { _a: {} } },
  ],
])('a renamed property changes %s', (_title, schema, expected) => {
  expect(acceptedParameters({ type: 'object', ...schema })).toEqual({ type: 'object', ...expected });
});

test('a name inside a property, and a reference to a name, stay as they are', () => {
  const inside = { properties: { $a: string }, required: ['$a'], default: { $ref: '#/properties/$a' } };
  const schema = {
    type: 'object',
    properties: { $a: {}, b: inside, c: { $ref: '#/$defs/$a' } },
    $defs: { $a: inside },
  };

  expect(acceptedParameters(schema)).toEqual({
    ...schema,
    properties: { _a: {}, b: inside, c: { $ref: '#/$defs/$a' } },
  });
});

test('the parameters of a tool are computed once', () => {
  const schema = { type: 'object', properties: { $a: string } };

  expect(acceptedParameters(schema)).toBe(acceptedParameters(schema));
});

describe('a nested object of the same form keeps its own names', () => {
  const array = (items: JsonSchema) => ({ type: 'array', items });

  test.each<[string, JsonSchema, JsonSchema]>([
    [
      'with a reference to the root',
      { properties: { $and: array({ $ref: '#' }), $eq: string }, required: ['$eq'], additionalProperties: false },
      {
        properties: { _and: array({ $ref: '#/$defs/root' }), _eq: string },
        ...{ required: ['_eq'], additionalProperties: false },
        $defs: {
          root: {
            type: 'object',
            properties: { $and: array({ $ref: '#/$defs/root' }), $eq: string },
            ...{ required: ['$eq'], additionalProperties: false },
          },
        },
      },
    ],
    [
      'in a definition, although its name is taken',
      { properties: { $a: { $ref: '#/$defs/list' } }, $defs: { root: string, list: array({ $ref: '#' }) } },
      {
        properties: { _a: { $ref: '#/$defs/list' } },
        $defs: {
          ...{ root: string, list: array({ $ref: '#/$defs/root_2' }) },
          root_2: { type: 'object', properties: { $a: { $ref: '#/$defs/list' } } },
        },
      },
    ],
    [
      'with a reference to a condition, and references to properties',
      {
        properties: { $a: string, b: { $ref: '#/if' }, c: { $ref: '#/properties/$a' } },
        if: { properties: { $a: { const: 'x' } } },
        additionalProperties: { $ref: '#' },
      },
      {
        properties: { _a: string, b: { $ref: '#/$defs/root/if' }, c: { $ref: '#/properties/_a' } },
        if: { properties: { _a: { const: 'x' } } },
        additionalProperties: { $ref: '#/$defs/root' },
        $defs: {
          root: {
            type: 'object',
            properties: { $a: string, b: { $ref: '#/$defs/root/if' }, c: { $ref: '#/properties/_a' } },
            if: { properties: { $a: { const: 'x' } } },
            additionalProperties: { $ref: '#/$defs/root' },
          },
        },
      },
    ],
    [
      'with alternatives at the root',
      { anyOf: [{ properties: { $not: { $ref: '#' } } }, { properties: { $x: { $ref: '#/anyOf/0' } } }] },
      {
        description: expect.stringContaining('The arguments must also match'),
        properties: { _not: { $ref: '#/$defs/root' }, _x: { $ref: '#/$defs/root/anyOf/0' } },
        $defs: {
          root: {
            type: 'object',
            anyOf: [
              { properties: { $not: { $ref: '#/$defs/root' } } },
              { properties: { $x: { $ref: '#/$defs/root/anyOf/0' } } },
            ],
          },
        },
      },
    ],
    [
      'and a schema without other names does not change',
      { properties: { and: array({ $ref: '#' }) } },
      { properties: { and: array({ $ref: '#' }) } },
    ],
  ])('%s', (_title, schema, expected) => {
    expect(acceptedParameters({ type: 'object', ...schema })).toEqual({ type: 'object', ...expected });
  });
});
