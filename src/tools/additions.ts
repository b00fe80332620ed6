import { isObject, type JsonSchema } from '../internal/json.js';
import type { Tool } from './tool.js';

/** Adds to a tool's input if its schema permits further properties. Never displaces an argument. */
export function withAdditions(tool: Tool, input: unknown, additions: Readonly<Record<string, unknown>>): unknown {
  if (!isObject(input) || isClosed(tool.inputSchema)) return input;
  return { ...additions, ...input };
}

/** True when a schema, or a member of its union, forbids further properties. */
function isClosed(schema: JsonSchema, defs = schema.$defs as JsonSchema | undefined): boolean {
  const { $ref, additionalProperties, unevaluatedProperties, anyOf, oneOf, allOf } = schema;
  if (additionalProperties === false || unevaluatedProperties === false) return true;
  // `#/$defs/name`. A name inside of a named schema is not followed: names may form a circle.
  const named = defs?.[`${$ref}`.slice(8)];
  const members = [named, anyOf, oneOf, allOf].flat();
  return members.some((member) => Boolean(member) && isClosed(member as JsonSchema, named ? undefined : defs));
}
