import type { Fragments, SchemaSource } from './schema-source.js';
import { nested } from './schema-source.js';

/** Returns the name of a new schema under `$defs`. */
function define(source: SchemaSource, schema: unknown): string {
  const name = `d${Object.keys(source.defs).length}`;
  source.defs[name] = schema;
  return name;
}

/** Returns a reference whose evaluation doubles at each level. */
function doubling(source: SchemaSource): string {
  let name = define(source, { type: 'string' });
  for (let level = source.int(1, 28); level > 0; level--) {
    const next = { $ref: `#/$defs/${name}` };
    name = define(source, { [source.oneOf(['allOf', 'anyOf', 'oneOf'])]: [next, next] });
  }
  return name;
}

/** Adds a keyword that has no influence on the check to a random schema. */
const beside = (name: string, create: (source: SchemaSource) => unknown) => (source: SchemaSource) => {
  const { schema, value } = source.sub();
  return { schema: { ...schema, [name]: create(source) }, value };
};
const flag = (source: SchemaSource) => source.oneOf([true, false]);
const words = (source: SchemaSource) => source.text('schema').slice(0, 20_000);

/** Keywords that identify, refer or describe. Their values do not depend on the checked value. */
export const identifiers: Fragments = {
  $schema: beside('$schema', (source) =>
    source.oneOf([
      'https://json-schema.org/draft/2020-12/schema',
      'https://json-schema.org/draft/2019-09/schema',
      'http://json-schema.org/draft-07/schema#',
      'http://json-schema.org/draft-04/schema#',
    ]),
  ),
  $id: beside('$id', (source) => `https://example.com/${'i'.repeat(source.int(1, 500))}`),
  $anchor: beside('$anchor', () => 'here'),
  $dynamicAnchor: beside('$dynamicAnchor', () => 'node'),
  $recursiveAnchor: beside('$recursiveAnchor', () => true),
  $vocabulary: beside('$vocabulary', (source) =>
    Object.fromEntries(source.list(1, 50, (at) => [`https://example.com/vocab/${at}`, flag(source)])),
  ),
  $comment: beside('$comment', words),
  title: beside('title', words),
  description: beside('description', words),
  default: beside('default', words),
  examples: beside('examples', (source) => source.list(1, 20, () => words(source))),
  deprecated: beside('deprecated', flag),
  readOnly: beside('readOnly', flag),
  writeOnly: beside('writeOnly', flag),
  contentEncoding: beside('contentEncoding', () => 'base64'),
  contentMediaType: beside('contentMediaType', () => 'application/json'),
  contentSchema: beside('contentSchema', (source) => source.sub().schema),
  $defs: beside('$defs', (source) => ({ own: source.sub().schema })),
  definitions: beside('definitions', (source) => ({ own: source.sub().schema })),
  $ref: (source) => {
    const { schema, value } = source.sub();
    const list = `d${Object.keys(source.defs).length}`;
    return source.oneOf([
      () => ({ schema: { $ref: `#/$defs/${define(source, schema)}` }, value }),
      () => ({ schema: { $ref: `#/$defs/${doubling(source)}` }, value }),
      () => {
        define(source, { properties: { next: { $ref: `#/$defs/${list}` } }, propertyNames: schema });
        return { schema: { $ref: `#/$defs/${list}` }, value: nested(source.int(1, 300)) };
      },
    ])();
  },
  $dynamicRef: (source) => ({
    schema: { properties: { next: { $dynamicRef: source.oneOf(['#', '#node']) } }, items: { $dynamicRef: '#' } },
    value: source.oneOf([nested(source.int(1, 300)), [[[source.value()]]]]),
  }),
  $recursiveRef: (source) => ({
    schema: { properties: { next: { $recursiveRef: '#' } }, items: { $recursiveRef: '#' } },
    value: source.oneOf([nested(source.int(1, 300)), [[[source.value()]]]]),
  }),
};
