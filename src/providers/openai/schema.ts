import { defined, isObject, type WireObject } from '../shared/wire.js';

const PLAIN_KEYWORDS = [
  ['$ref', 'type', 'title', 'description', 'enum', 'const', 'required', 'additionalProperties'],
  ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'pattern', 'minItems', 'maxItems'],
].flat();

/**
 * Whether OpenAI takes a schema in strict mode, where the answer is sure to match it: only keywords that this mode
 * knows, and objects that are closed and have all their properties required. It refuses the request otherwise.
 */
export function isStrictSchema(schema: unknown): boolean {
  return isObject(schema) && schema.type === 'object' && isStrict(schema);
}

function isStrict(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  if ((schema.type === 'object' || schema.properties !== undefined) && !isClosed(schema)) return false;
  return Object.entries(schema).every(([keyword, value]) => {
    if (keyword === 'items') return isStrict(value);
    if (keyword === 'anyOf') return Array.isArray(value) && value.every(isStrict);
    if (keyword === 'properties' || keyword === '$defs') return isObject(value) && Object.values(value).every(isStrict);
    return PLAIN_KEYWORDS.includes(keyword);
  });
}

function isClosed({ properties, required, additionalProperties }: { readonly [keyword: string]: unknown }): boolean {
  if (additionalProperties !== false || !isObject(properties)) return false;
  return Array.isArray(required) && Object.keys(properties).every((name) => required.includes(name));
}

/** What Moonshot's models are called, whoever serves them. */
const MOONSHOT_MODEL = /kimi|moonshot/i;

/**
 * The parameters of a tool as a model takes them. Moonshot's refuse every tool for a `type` beside an `anyOf`, and for
 * `items` that are a list: it stands in the alternatives then, and they are `prefixItems`.
 */
export function parametersFor(model: string, parameters: WireObject): WireObject {
  return MOONSHOT_MODEL.test(model) ? (rewritten(parameters) as WireObject) : parameters;
}

/** Keywords that hold values, not schemas. */
const VALUES = ['default', 'const', 'enum', 'examples'];

function rewritten(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(rewritten);
  if (!isObject(node)) return node;
  const inner = Object.entries(node).map(([key, of]) => [key, VALUES.includes(key) ? of : rewritten(of)]);
  const { type, anyOf, items, ...rest }: WireObject = Object.fromEntries(inner);
  const moves = type !== undefined && Array.isArray(anyOf);
  return defined({
    ...rest,
    type: moves ? undefined : type,
    anyOf: moves ? anyOf.map((each) => (isObject(each) && !each.$ref ? { type, ...each } : each)) : anyOf,
    ...(Array.isArray(items) ? { prefixItems: items } : { items }),
  });
}
