import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OptionInvalidError } from '../../../../src/errors.js';
import type { JsonSchema } from '../../../../src/internal/json.js';
import { toDraft2020 } from '../../../../src/providers/shared/tools/draft-2020.js';
import { checkSchema, schemaKeywords } from '../../../support/providers/meta-schema.js';

const string = { type: 'string' };
/** Returns the property `a` as it is sent. */
const sent = (a: unknown) => (toDraft2020({ properties: { a } }).properties as JsonSchema).a;

test.each<[string, unknown, unknown]>([
  ['repeated names in required', { required: ['x', 'x'] }, { required: ['x'] }],
  [
    'repeated names in dependentRequired',
    { dependentRequired: { x: ['y', 'y'] } },
    { dependentRequired: { x: ['y'] } },
  ],
  ['repeated names in dependencies', { dependencies: { x: ['y', 'y'] } }, { dependencies: { x: ['y'] } }],
  ['repeated values in enum', { enum: ['x', { y: 1 }, 'x', { y: 1 }] }, { enum: ['x', { y: 1 }] }],
  ['repeated types', { type: ['string', 'null', 'string'] }, { type: ['string', 'null'] }],
  ['one example without an array', { ...string, examples: 'foo' }, { ...string, examples: ['foo'] }],
  ['a description in lines', { ...string, description: ['x', 'y'] }, { ...string, description: 'x\ny' }],
  ['null as a description', { ...string, description: null }, string],
  ['null as a title', { ...string, title: null }, string],
  ['null as a default', { ...string, default: null }, { ...string, default: null }],
  ['a string as a flag', { ...string, readOnly: 'true', writeOnly: 1, deprecated: 'use b' }, string],
  ['an object as a comment', { ...string, $comment: { x: 1 } }, string],
  ['notes on the content', { ...string, contentSchema: 'x', contentMediaType: 1, contentEncoding: [] }, string],
  ['a format that is not a string', { ...string, format: ['date'] }, string],
  ['an invalid vocabulary', { ...string, $vocabulary: [], $schema: 5 }, string],
  ['an id of draft 7', { ...string, $id: '#b' }, string],
  ['an anchor with a #', { ...string, $anchor: '#b', $dynamicAnchor: 1, $recursiveAnchor: true }, string],
  ['an empty tuple', { items: [], additionalItems: string }, { items: string }],
  [
    'a pattern that Python cannot compile',
    { ...string, pattern: '^\\p{L}+$', description: 'A name.' },
    { ...string, description: 'A name. ({"pattern":"^\\\\p{L}+$"})' },
  ],
  [
    'property names by such a pattern',
    { patternProperties: { '^\\p{L}$': string, '^x': string }, additionalProperties: false },
    {
      patternProperties: { '^x': string },
      additionalProperties: true,
      unevaluatedProperties: true,
      description: '({"patternProperties":["^\\\\p{L}$"]})',
    },
  ],
  [
    'an array in dependencies of draft 7',
    { dependencies: { x: { type: 'array' } } },
    { dependencies: { x: { type: 'array', items: {} } } },
  ],
])('repairs %s', (_title, schema, expected) => {
  expect(sent(schema)).toEqual(expected);
  expect(checkSchema({ properties: { a: sent(schema) } })).not.toHaveProperty('issues');
});

test.each<[string, unknown, string]>([
  ['minLength', '3', '`properties.a.minLength` must be a whole number of 0 or more, got "3"'],
  [
    'type',
    'text',
    '`properties.a.type` must be array, boolean, integer, null, number, object, string, or an array of these, got "text"',
  ],
  ['required', true, '`properties.a.required` must be an array of strings, got true'],
  ['anyOf', [], '`properties.a.anyOf` must be an array with a JSON Schema, got an array'],
  ['items', 'string', '`properties.a.items` must be a JSON Schema, got "string"'],
  ['properties', null, '`properties.a.properties` must be an object, got null'],
])('refuses an invalid %s', (keyword, value, message) => {
  expect(() => sent({ [keyword]: value })).toThrow(new OptionInvalidError('inputSchema', message));
});

describe('an id that a reference of the schema needs', () => {
  test.each([
    ['of draft 7', { $id: '#item', type: 'string' }],
    ['of draft 4', { id: '#item', type: 'string' }],
    ['with a #', { $anchor: '#item', type: 'string' }],
  ])('%s becomes an anchor', (_title, item) => {
    const schema = { properties: { list: { type: 'array', items: { $ref: '#item' } } }, $defs: { item } };

    expect(toDraft2020(schema).$defs).toEqual({ item: { $anchor: 'item', type: 'string' } });
  });
});

describe('a schema with any value of a keyword is refused, or sent in a form that the meta-schema accepts:', () => {
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.array(fc.constantFrom('a', 'a', 'string', 'null'), { maxLength: 3 }),
    fc.constantFrom('#a', 'a', 'a b', 'string', {}, [{}], { a: {} }, { a: ['b', 'b'] }),
  );

  test.each(schemaKeywords)('%s', (keyword) => {
    const property = fc.property(value, (given) => {
      const schema = { properties: { a: { [keyword]: given } } };
      const isValid = checkSchema(schema).issues === undefined;
      let found: JsonSchema;
      try {
        found = toDraft2020(schema);
      } catch (error) {
        expect([isValid, error]).toEqual([false, expect.any(OptionInvalidError)]);
        return;
      }
      expect(checkSchema(JSON.parse(JSON.stringify(found)))).not.toHaveProperty('issues');
    });
    fc.assert(property, { seed: 7, numRuns: 60 });
  });
});
