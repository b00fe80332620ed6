import type { Fragments, SchemaSource } from './schema-source.js';

const filled = (count: number, value: unknown) => Array.from({ length: count }, () => value);
const keyed = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value]));

/** Returns a fragment whose keyword has one subschema for all items of an array. */
const forItems = (keyword: string) => (source: SchemaSource) => {
  const count = source.count('value', 50);
  const { schema, value } = source.sub({ value: count });
  return { schema: { [keyword]: schema }, value: filled(count, value) };
};

/** Returns a fragment whose keyword has one subschema for all properties of an object. */
const forProperties = (keyword: string) => (source: SchemaSource) => {
  const count = source.count('value', 50);
  const { schema, value } = source.sub({ value: count });
  return { schema: { [keyword]: schema }, value: keyed(count, value) };
};

/** Returns a fragment whose keyword has many subschemas for the whole value. */
const branches = (keyword: string) => (source: SchemaSource) => {
  const count = source.count('schema', 100);
  const { schema, value } = source.sub({ schema: count });
  return { schema: { [keyword]: filled(count, schema) }, value };
};

/** Returns a fragment whose keyword has one subschema for the whole value. */
const forValue =
  (keyword: string, more: object = {}) =>
  (source: SchemaSource) => {
    const { schema, value } = source.sub();
    return { schema: { ...more, [keyword]: schema }, value };
  };

/** Keywords that apply subschemas. */
export const applicators: Fragments = {
  allOf: branches('allOf'),
  anyOf: branches('anyOf'),
  oneOf: branches('oneOf'),
  not: forValue('not'),
  if: (source) => {
    const [condition, consequence] = [source.sub({ schema: 2 }), source.sub({ schema: 2 })];
    const { schema } = consequence;
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    return { schema: { if: condition.schema, then: schema, else: schema }, value: condition.value };
  },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: forValue('then', { if: true }),
  else: forValue('else', { if: false }),
  items: forItems('items'),
  contains: forItems('contains'),
  unevaluatedItems: forItems('unevaluatedItems'),
  prefixItems: (source) => {
    const count = source.count('schema', 200);
    const { schema, value } = source.sub({ schema: count, value: count });
    return { schema: { prefixItems: filled(count, schema) }, value: filled(count, value) };
  },
  properties: (source) => {
    const count = source.count('schema', 200);
    const { schema, value } = source.sub({ schema: count, value: count });
    return { schema: { properties: keyed(count, schema) }, value: keyed(source.int(1, count), value) };
  },
  patternProperties: (source) => {
    const count = source.count('value', 50);
    const { schema, value } = source.sub({ value: count });
    const patterns = source.list(1, 5, () => [source.pattern(), schema]);
    return {
      schema: { patternProperties: Object.fromEntries(patterns) },
      value: { ...keyed(count, value), [source.text().slice(0, 1_000)]: value },
    };
  },
  additionalProperties: forProperties('additionalProperties'),
  unevaluatedProperties: forProperties('unevaluatedProperties'),
  propertyNames: (source) => {
    const { schema } = source.sub();
    return {
      schema: { propertyNames: schema },
      value: { ...keyed(source.count('value', 10), 1), [source.text().slice(0, 50_000)]: 1 },
    };
  },
  dependentSchemas: (source) => {
    const count = source.count('schema', 200);
    const { schema, value } = source.sub({ schema: count });
    return { schema: { dependentSchemas: keyed(count, schema) }, value: { ...keyed(count, 1), ...Object(value) } };
  },
  dependencies: (source) => {
    const count = source.count('schema', 200);
    const { schema } = source.sub({ schema: count });
    const names = Object.keys(keyed(source.int(1, 20), 1));
    return { schema: { dependencies: keyed(count, source.oneOf([schema, names])) }, value: keyed(count, 1) };
  },
};
