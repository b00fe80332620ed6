import { defined, isObject, type WireObject } from '../shared/wire.js';

/** The rules of OpenAI's API for tools. Other servers accept other names and more tools. */
export const OPENAI_TOOLS = { provider: 'OpenAI', name: /^[a-zA-Z0-9_-]{1,64}$/, most: 128 };

const PLAIN_KEYWORDS = [
  ['$ref', 'type', 'title', 'description', 'enum', 'const', 'required', 'additionalProperties'],
  ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'pattern', 'minItems', 'maxItems'],
].flat();

/**
 * True if OpenAI accepts the schema in strict mode, which guarantees that the answer matches the schema. Strict mode
 * allows only some keywords. Objects must require all their properties and allow no others. OpenAI refuses any other
 * schema in strict mode.
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

/** Matches the names of Moonshot's models. Their rules for schemas apply on any host. */
const MOONSHOT_MODEL = /kimi|moonshot/i;

/**
 * Returns the schema of a tool's arguments in the form that the model accepts. Moonshot's models refuse a `type` next
 * to `anyOf`, so `type` moves into the alternatives. They also refuse an array in `items`, so the array moves to
 * `prefixItems`.
 */
export function parametersFor(model: string, parameters: WireObject): WireObject {
  return MOONSHOT_MODEL.test(model) ? (rewritten(parameters) as WireObject) : parameters;
}

/** Keywords whose content is a value and not a schema, so that it must stay unchanged. */
const VALUES = ['default', 'const', 'enum', 'examples'];

function rewritten(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(rewritten);
  if (!isObject(node)) return node;
  const inner = Object.entries(node).map(([key, of]) => [key, VALUES.includes(key) ? of : rewritten(of)]);
  const { type, anyOf, items, ...rest }: WireObject = Object.fromEntries(inner);
  const entries = Array.isArray(items) ? { prefixItems: items } : { items };
  const moves = type !== undefined && Array.isArray(anyOf);
  return defined({
    ...rest,
    type: moves ? undefined : type,
    anyOf: moves ? anyOf.map((each) => (isObject(each) && !each.$ref ? { type, ...each } : each)) : anyOf,
    ...entries,
  });
}
