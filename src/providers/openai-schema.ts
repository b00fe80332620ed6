import { isObject } from './wire.js';

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
