import { isObject, type JsonSchema } from '../internal/json.js';
import type { Tool } from './tool.js';

/**
 * Merges `additions` into the arguments if the tool's schema allows additional properties. Does not replace existing
 * arguments.
 */
export function withAdditions(tool: Tool, input: unknown, additions: Readonly<Record<string, unknown>>): unknown {
  if (!isObject(input) || isClosed(tool.inputSchema)) return input;
  // The first spread keeps the order of the existing arguments.
  return { ...input, ...additions, ...input };
}

/** True if the schema, or a member of its union, forbids additional properties. */
function isClosed(schema: JsonSchema, defs = schema.$defs as JsonSchema | undefined): boolean {
  const { $ref, additionalProperties, unevaluatedProperties, anyOf, oneOf, allOf } = schema;
  if (additionalProperties === false || unevaluatedProperties === false) return true;
  // Resolves `#/$defs/name` only one level deep, because definitions may refer to each other in a cycle.
  const named = defs?.[`${$ref}`.slice(8)];
  const members = [named, anyOf, oneOf, allOf].flat();
  return members.some((member) => Boolean(member) && isClosed(member as JsonSchema, named ? undefined : defs));
}
