import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toolParameters } from '../../../../src/providers/shared/tools/tool-parameters.js';
import { compileJsonSchema } from '../../../../src/tools/json-schema-check.js';
import { growth } from '../../../support/growth.js';

const text = { type: 'string' };
const number = { type: 'number' };
const REFUSED = ['$ref', 'allOf', 'anyOf', 'oneOf', 'enum', 'not'];

/** Returns the sent schema without its description. */
function fields(schema: object) {
  const { description, ...sent } = toolParameters(schema as never);
  return sent;
}

describe('the schema of a tool, for servers that refuse root alternatives,', () => {
  test('keeps its properties, and quotes the alternatives in the description', () => {
    const schema = {
      type: 'object',
      description: 'The file to read.',
      properties: { project: text, paths: text, scopes: text },
      required: ['project'],
      anyOf: [{ required: ['paths'] }, { required: ['scopes'] }],
    };
    const { anyOf, ...plain } = schema;

    expect(toolParameters(schema)).toEqual({
      ...plain,
      description: `The file to read.\nThe arguments must also match this JSON Schema: ${JSON.stringify({ anyOf })}`,
    });
  });

  test.each<[string, object, object]>([
    [
      'a discriminated union has all variants of its discriminator',
      {
        oneOf: [
          { type: 'object', properties: { kind: { const: 'a' }, size: number }, required: ['kind', 'size'] },
          { type: 'object', properties: { kind: { const: 'b' } }, required: ['kind'] },
          { type: 'null' },
        ],
      },
      { properties: { kind: { anyOf: [{ const: 'a' }, { const: 'b' }] }, size: number }, required: ['kind'] },
    ],
    [
      'the parts of allOf are combined',
      { type: 'object', properties: { a: text }, allOf: [{ properties: { a: { minLength: 1 } }, required: ['a'] }] },
      { properties: { a: { allOf: [text, { minLength: 1 }] } }, required: ['a'] },
    ],
    [
      'a reference is followed, and its definition stays for other references',
      {
        $ref: '#/$defs/a~1b',
        $defs: { 'a/b': { properties: { next: { $ref: '#/$defs/a~1b' } }, required: ['next'] } },
      },
      {
        $defs: { 'a/b': { properties: { next: { $ref: '#/$defs/a~1b' } }, required: ['next'] } },
        ...{ properties: { next: { $ref: '#/$defs/a~1b' } }, required: ['next'] },
      },
    ],
    [
      'required properties shared by all alternatives stay required',
      {
        $defs: { base: { properties: { id: text }, required: ['id'] } },
        anyOf: [{ allOf: [{ $ref: '#/$defs/base' }, { required: ['x'] }] }, { $ref: '#/$defs/base' }],
      },
      {
        $defs: { base: { properties: { id: text }, required: ['id'] } },
        ...{ properties: { id: text }, required: ['id'] },
      },
    ],
    [
      'a reference into a removed keyword moves with its schema',
      { anyOf: [{ properties: { a: text } }, { properties: { b: { $ref: '#/anyOf/0/properties/a' } } }] },
      { properties: { a: text, b: { $ref: '#/properties/a' } } },
    ],
    [
      'a reference from a definition into a removed keyword moves with its schema',
      {
        $defs: { list: { items: { $ref: '#/allOf/0/oneOf/0/properties/a/not' } } },
        allOf: [{ oneOf: [{ properties: { a: { not: text } } }] }],
      },
      { $defs: { list: { items: { $ref: '#/properties/a/not' } } }, properties: { a: { not: text } } },
    ],
    [
      'a reference to a schema that is merged with another is dropped',
      {
        properties: { a: text, b: { $ref: '#/allOf/0/properties/a', title: 'B' } },
        allOf: [{ properties: { a: { minLength: 1 } } }],
      },
      { properties: { a: { allOf: [text, { minLength: 1 }] }, b: { title: 'B' } } },
    ],
    [
      'a reference may be percent-encoded',
      { $ref: '#/$defs/Page%3CItem%3E', $defs: { 'Page<Item>': { properties: { a: text } } } },
      { $defs: { 'Page<Item>': { properties: { a: text } } }, properties: { a: text } },
    ],
    [
      'an invalid reference is ignored',
      { $ref: '#/$defs/%', $defs: { a: { properties: { a: text } } } },
      { $defs: { a: { properties: { a: text } } }, properties: {} },
    ],
    [
      'many alternatives are merged like few',
      {
        anyOf: Array.from({ length: 300 }, (_, at) => ({
          properties: { [`p${at}`]: text, id: text },
          required: ['id'],
        })),
      },
      {
        properties: { id: text, ...Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`p${at}`, text])) },
        required: ['id'],
      },
    ],
    ['a recursive reference ends', { anyOf: [{ $ref: '#' }, { $ref: '#/nowhere' }] }, { properties: {} }],
    [
      'an array of types becomes the type object',
      { type: ['object', 'null'], properties: { a: text } },
      { properties: { a: text } },
    ],
    ['a missing type becomes the type object', {}, { properties: {} }],
  ])('%s', (_title, schema, expected) => {
    expect(fields(schema)).toEqual({ type: 'object', ...expected });
  });

  test('treats names of Object.prototype as property names', () => {
    const parameters = toolParameters({ allOf: [JSON.parse('{"properties":{"__proto__":{"type":"string"}}}')] });

    expect(JSON.stringify(parameters.properties)).toBe('{"__proto__":{"type":"string"}}');
  });

  test('quotes other keywords of a root reference in the description', () => {
    const $defs = { record: { type: 'object', additionalProperties: text } };

    expect(toolParameters({ $ref: '#/$defs/record', $defs })).toEqual({
      ...{ $defs, type: 'object', properties: {} },
      description: 'The arguments must also match this JSON Schema: {"$ref":"#/$defs/record"}',
    });
  });

  test.each(['properties', 'required'])('takes linear time for a repeated %s', async (keyword) => {
    const convert = (size: number) => {
      const names = Array.from({ length: size }, (_, at) => `p${at}`);
      const base = { properties: Object.fromEntries(names.map((name) => [name, {}])), required: names };
      const $defs = { base: { [keyword]: base[keyword as keyof typeof base] } };
      const again = names.map((name) => ({ $ref: '#/$defs/base', properties: { [`${name}-too`]: {} } }));
      const expected = { type: 'object', properties: { own: text } };
      return () =>
        expect(fields({ $defs, properties: { own: text }, allOf: again, anyOf: again })).toMatchObject(expected);
    };

    expect(await growth(40, convert)).toBeLessThan(100);
  });

  test('takes linear time for any references between its parts', async () => {
    const twice = (at: number) =>
      [{ minLength: at }, { maxLength: at }].map((a) => ({
        allOf: [{ $ref: `#/$defs/${at - 1}` }, { properties: { a } }],
      }));
    const convert = (size: number) => {
      const $defs = Object.fromEntries(Array.from({ length: size }, (_, at) => [at, { anyOf: twice(at) }]));
      return () =>
        expect(fields({ $defs, anyOf: [{ $ref: `#/$defs/${size - 1}` }] })).toMatchObject({ type: 'object' });
    };

    expect(await growth(20, convert)).toBeLessThan(100);
  });

  test('accepts all values that an alternative accepts, and has no refused keyword at its root', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd');
    const closed = fc.dictionary(name, fc.constantFrom(text, number, { const: 1 })).map((properties) => ({
      ...{ type: 'object', properties, required: Object.keys(properties), additionalProperties: false },
    }));
    const schemas = fc.tuple(fc.constantFrom('anyOf', 'oneOf'), fc.array(closed, { minLength: 1, maxLength: 4 }));
    const inputs = fc.dictionary(name, fc.constantFrom<unknown>('x', 1, 2));

    fc.assert(
      fc.property(schemas, inputs, ([keyword, alternatives], input) => {
        const parameters = toolParameters({ [keyword]: alternatives });
        const allowed = compileJsonSchema({ [keyword]: alternatives })(input);

        expect(Object.keys(parameters).filter((word) => REFUSED.includes(word))).toEqual([]);
        if (allowed.issues === undefined) expect(compileJsonSchema(parameters)(input).issues).toBe(undefined);
      }),
      { numRuns: 300 },
    );
  });
});
