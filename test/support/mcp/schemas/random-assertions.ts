import type { Fragments, SchemaSource } from './schema-source.js';

const names = (count: number) => Array.from({ length: count }, (_, at) => `k${at}`);
const record = (count: number) => Object.fromEntries(names(count).map((name) => [name, 1]));
const NUMBERS = [0, 1, -1, 3.3, 1.7e308, -1.7e308, 5e-324, 1e21];

/** Returns a fragment whose keyword has a number, applied to many numbers, or to one number many times. */
const onNumbers = (keyword: string) => (source: SchemaSource) => {
  const limit = () => ({
    [keyword]: keyword === 'multipleOf' ? source.oneOf([0.1, 5e-324, 7]) : source.oneOf(NUMBERS),
  });
  const many = Array.from({ length: source.count('value', 4) }, (_, at) => at * source.oneOf([1, 1.7e300]));
  return source.oneOf([
    { schema: limit(), value: source.oneOf(NUMBERS) },
    { schema: { items: limit() }, value: many },
    { schema: { items: { anyOf: names(source.count('schema', 50)).map(limit) } }, value: many.slice(0, 2_000) },
  ]);
};

/** Returns a fragment whose keyword has a size, applied to one large value many times. */
const onSize = (keyword: string, create: (source: SchemaSource) => unknown) => (source: SchemaSource) => {
  const limits = Array.from({ length: source.count('schema', 50) }, () => ({ [keyword]: source.int(0, 1_000_000) }));
  return {
    schema: source.oneOf<object>([{ allOf: limits }, { [keyword]: source.int(0, 100) }]),
    value: create(source),
  } as never;
};

const text = (source: SchemaSource) => source.text();
const array = (source: SchemaSource) => names(source.count('value'));
const object = (source: SchemaSource) => record(source.count('value', 10));

/** Returns values that are equal except for their last part, which take long to compare. */
function alike(source: SchemaSource, count: number): readonly unknown[] {
  const shared = source.oneOf<unknown>(['x'.repeat(100), record(10), names(20), 1]);
  return Array.from({ length: count }, (_, at) => ({ shared, at }));
}

/** Keywords that test the value itself. */
export const assertions: Fragments = {
  type: (source) => {
    const types = names(source.count('schema', 10));
    return source.oneOf([
      { schema: { type: 'string' }, value: source.value() },
      { schema: { items: { type: [...types, 'object'] } }, value: array(source) },
    ]);
  },
  const: (source) => {
    const members = alike(source, source.count('schema', 400));
    return {
      schema: { items: { const: members } },
      value: Array.from({ length: source.count('value', 200 * members.length) }, () => members),
    };
  },
  enum: (source) => {
    const members = alike(source, source.count('schema', 400));
    const values = [...members, ...alike(source, source.count('value', 400))];
    return source.oneOf([
      { schema: { items: { enum: members } }, value: values },
      { schema: { enum: members }, value: source.value() },
    ]);
  },
  multipleOf: onNumbers('multipleOf'),
  maximum: onNumbers('maximum'),
  minimum: onNumbers('minimum'),
  exclusiveMaximum: onNumbers('exclusiveMaximum'),
  exclusiveMinimum: onNumbers('exclusiveMinimum'),
  maxLength: onSize('maxLength', text),
  minLength: onSize('minLength', text),
  pattern: (source) => ({ schema: { pattern: source.pattern() }, value: source.text() }),
  format: (source) => {
    const formats = [
      'url',
      'uri',
      'email',
      'date-time',
      'ipv6',
      'hostname',
      'uuid',
      'regex',
      'duration',
      'json-pointer',
    ];
    const heavy = [`http://${source.text()}`, `${source.text()}@${source.text()}`, source.text(), ':'.repeat(10_000)];
    return { schema: { format: source.oneOf(formats) }, value: source.oneOf(heavy) };
  },
  maxItems: onSize('maxItems', array),
  minItems: onSize('minItems', array),
  uniqueItems: (source) => ({
    schema: { uniqueItems: true },
    value: source.oneOf([array(source), alike(source, source.count('value', 400))]),
  }),
  maxContains: (source) => ({ schema: { contains: source.sub().schema, maxContains: 2 }, value: array(source) }),
  minContains: (source) => ({ schema: { contains: source.sub().schema, minContains: 2 }, value: array(source) }),
  maxProperties: onSize('maxProperties', object),
  minProperties: onSize('minProperties', object),
  required: (source) => {
    const required = names(source.count('schema'));
    return source.oneOf<{ schema: object; value: unknown }>([
      { schema: { required }, value: object(source) },
      { schema: { items: { required } }, value: names(source.count('value', 10)).map(() => ({})) },
    ]) as never;
  },
  dependentRequired: (source) => {
    const dependentRequired = { a: names(source.count('schema')) };
    const value = names(source.count('value', 10)).map(() => ({ a: 1 }));
    return { schema: { items: { dependentRequired } }, value };
  },
};
