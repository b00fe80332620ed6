import type { JsonSchema } from '../../../internal/json.js';
import { isObject, type WireObject } from '../wire.js';

const MAX_DEPTH = 200;
const SCHEMAS =
  'not if then else contains propertyNames additionalProperties unevaluatedProperties unevaluatedItems items';
const LISTS = 'allOf anyOf oneOf prefixItems';
const MAPS = 'properties patternProperties $defs definitions dependentSchemas';
const kinds = new Map<string, 'schema' | 'list' | 'map'>();
for (const key of SCHEMAS.split(' ')) kinds.set(key, 'schema');
for (const key of LISTS.split(' ')) kinds.set(key, 'list');
for (const key of MAPS.split(' ')) kinds.set(key, 'map');

const known = new WeakMap<JsonSchema, JsonSchema>();

/**
 * Returns a schema in the form of JSON Schema 2020-12, which providers check. Every array gets `items`, because OpenAI
 * refuses an array without them. Tuples and exclusive bounds of older drafts are rewritten. Returns `schema` itself if
 * nothing changes.
 */
export function toDraft2020(schema: JsonSchema): JsonSchema {
  const before = known.get(schema);
  if (before !== undefined) return before;
  const converted = convert(schema, 0) as JsonSchema;
  known.set(schema, converted);
  return converted;
}

function convert(node: unknown, depth: number): unknown {
  if (!isObject(node) || depth > MAX_DEPTH) return node;
  const shaped = withItems(withBounds(withTuple(node)));
  const entries = Object.entries(shaped);
  const converted = entries.map(([key, value]) => [key, convertMember(kinds.get(key), value, depth + 1)] as const);
  const isSame = converted.every(([, value], index) => value === entries[index]?.[1]);
  return isSame ? shaped : Object.fromEntries(converted);
}

function convertMember(kind: 'schema' | 'list' | 'map' | undefined, value: unknown, depth: number): unknown {
  if (kind === 'schema') return convert(value, depth);
  if (kind === 'list' && Array.isArray(value)) {
    const converted = value.map((part) => convert(part, depth));
    return converted.every((part, index) => part === value[index]) ? value : converted;
  }
  if (kind !== 'map' || !isObject(value)) return value;
  const converted = Object.entries(value).map(([name, part]) => [name, convert(part, depth)] as const);
  return converted.every(([name, part]) => part === value[name]) ? value : Object.fromEntries(converted);
}

/** Up to draft 2019-09, a list in `items` describes a tuple, and `additionalItems` the entries after it. */
function withTuple(node: WireObject): WireObject {
  if (!Array.isArray(node.items)) return node;
  const { items, additionalItems, ...rest } = node;
  return { ...rest, prefixItems: items, items: isObject(additionalItems) ? additionalItems : {} };
}

/** In draft 4, `exclusiveMinimum: true` makes `minimum` exclusive. */
function withBounds(node: WireObject): WireObject {
  if (typeof node.exclusiveMinimum !== 'boolean' && typeof node.exclusiveMaximum !== 'boolean') return node;
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, ...rest } = node;
  return {
    ...rest,
    ...boundOf({ bound: minimum, exclusive: exclusiveMinimum }, ['minimum', 'exclusiveMinimum']),
    ...boundOf({ bound: maximum, exclusive: exclusiveMaximum }, ['maximum', 'exclusiveMaximum']),
  };
}

function boundOf(
  { bound, exclusive }: { readonly bound: unknown; readonly exclusive: unknown },
  [inclusiveName, exclusiveName]: readonly [string, string],
): WireObject {
  if (exclusive === true) return bound === undefined ? {} : { [exclusiveName]: bound };
  return {
    ...(bound !== undefined && { [inclusiveName]: bound }),
    ...(typeof exclusive === 'number' && { [exclusiveName]: exclusive }),
  };
}

function withItems(node: WireObject): WireObject {
  const isArray = [node.type].flat().includes('array');
  return isArray && !isObject(node.items) && node.items !== false ? { ...node, items: {} } : node;
}
