import { expect, test } from 'vitest';
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
