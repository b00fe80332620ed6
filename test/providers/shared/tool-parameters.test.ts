import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toolParameters } from '../../../src/providers/shared/tool-parameters.js';
import { compileJsonSchema } from '../../../src/tools/json-schema-check.js';

const text = { type: 'string' };
const number = { type: 'number' };
const REFUSED = ['$ref', 'allOf', 'anyOf', 'oneOf', 'enum', 'not'];

/** What is sent of a schema, without the words. */
function fields(schema: object) {
  const { description, ...sent } = toolParameters(schema as never);
  return sent;
}

describe('the schema of a tool, of which servers take no alternatives at the root,', () => {
  test('keeps its fields, and says in words which of them belong together', () => {
    const schema = {
      type: 'object',
      description: 'Where to look.',
      properties: { project: text, paths: text, scopes: text },
      required: ['project'],
      anyOf: [{ required: ['paths'] }, { required: ['scopes'] }],
    };
    const { anyOf, ...plain } = schema;

    expect(toolParameters(schema)).toEqual({
      ...plain,
      description: `Where to look.\nThe arguments must also match this JSON Schema: ${JSON.stringify({ anyOf })}`,
    });
  });

  test.each<[string, object, object]>([
    [
      'a union by a field has that field in all its forms',
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
      'what all parts say holds together',
      { type: 'object', properties: { a: text }, allOf: [{ properties: { a: { minLength: 1 } }, required: ['a'] }] },
      { properties: { a: { allOf: [text, { minLength: 1 }] } }, required: ['a'] },
    ],
    [
      'a reference is followed, and what it leads to stays for others',
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
      'a base that alternatives share is required with each of them',
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
      'a reference into what is gone says nothing',
      { anyOf: [{ properties: { a: text } }, { properties: { b: { $ref: '#/anyOf/0/properties/a' } } }] },
      { properties: { a: text, b: {} } },
    ],
    [
      'a reference may be written as in an address',
      { $ref: '#/$defs/Page%3CItem%3E', $defs: { 'Page<Item>': { properties: { a: text } } } },
      { $defs: { 'Page<Item>': { properties: { a: text } } }, properties: { a: text } },
    ],
    [
      'a reference that is written wrong leads nowhere',
      { $ref: '#/$defs/%', $defs: { a: { properties: { a: text } } } },
      { $defs: { a: { properties: { a: text } } }, properties: {} },
    ],
    [
      'many alternatives are put together as few are',
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
    ['a loop ends', { anyOf: [{ $ref: '#' }, { $ref: '#/nowhere' }] }, { properties: {} }],
    [
      'a list of kinds is that of an object',
      { type: ['object', 'null'], properties: { a: text } },
      { properties: { a: text } },
    ],
    ['no kind at all is an object', {}, { properties: {} }],
  ])('%s', (_title, schema, expected) => {
    expect(fields(schema)).toEqual({ type: 'object', ...expected });
  });

  test('takes the names of objects for names', () => {
    const parameters = toolParameters({ allOf: [JSON.parse('{"properties":{"__proto__":{"type":"string"}}}')] });

    expect(JSON.stringify(parameters.properties)).toBe('{"__proto__":{"type":"string"}}');
  });

  test('says in words what else is said where a reference leads', () => {
    const $defs = { record: { type: 'object', additionalProperties: text } };

    expect(toolParameters({ $ref: '#/$defs/record', $defs })).toEqual({
      ...{ $defs, type: 'object', properties: {} },
      description: 'The arguments must also match this JSON Schema: {"$ref":"#/$defs/record"}',
    });
  });

  test.each(['properties', 'required'])('keeps nobody waiting who is told the same %s again and again', (keyword) => {
    const names = Array.from({ length: 5_000 }, (_, at) => `p${at}`);
    const base = { properties: Object.fromEntries(names.map((name) => [name, {}])), required: names };
    const $defs = { base: { [keyword]: base[keyword as keyof typeof base] } };
    const again = names.map((name) => ({ $ref: '#/$defs/base', properties: { [`${name}-too`]: {} } }));
    const started = performance.now();

    expect(fields({ $defs, properties: { own: text }, allOf: again, anyOf: again })).toMatchObject({
      ...{ type: 'object', properties: { own: text } },
    });
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  test('keeps nobody waiting, however its parts refer to each other', () => {
    const twice = (at: number) =>
      [{ minLength: at }, { maxLength: at }].map((a) => ({
        allOf: [{ $ref: `#/$defs/${at - 1}` }, { properties: { a } }],
      }));
    const $defs = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [at, { anyOf: twice(at) }]));
    const started = performance.now();

    expect(fields({ $defs, anyOf: [{ $ref: '#/$defs/1999' }] })).toMatchObject({ type: 'object' });
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  test('never forbids what an alternative allows, and has none of the refused words at its root', () => {
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
