import type { Schema } from '@cfworker/json-schema';

/** The subschemas of a schema by their URIs, as the validator's `dereference` returns them. */
type Lookup = Readonly<Record<string, Schema | boolean>>;

/**
 * Changes the schemas for a lenient check: removes `format`, lets `nullable` of OpenAPI allow `null`, removes invalid
 * patterns, and converts bounds of draft 4. `ignoresPatterns` removes valid patterns too.
 *
 * Keeps a `format` that is not a string. The validator treats the object `dependencies` as a schema, so `format` may be
 * a property name there.
 */
export function relax(lookup: Lookup, ignoresPatterns = false): void {
  const isChecked = (pattern: string) => !ignoresPatterns && isPattern(pattern);
  for (const node of Object.values(lookup)) {
    if (typeof node !== 'object') continue;
    if (typeof node.format === 'string') delete node.format;
    removePatterns(node, isChecked);
    convertBound(node, 'minimum', 'exclusiveMinimum');
    convertBound(node, 'maximum', 'exclusiveMaximum');
    if (node.nullable !== true) continue;
    if (node.type !== undefined) node.type = [...[node.type].flat(), 'null'];
    if (node.enum !== undefined) node.enum = [...node.enum, null];
  }
}

/** Removes patterns that JavaScript cannot compile. The server that sent the schema checks its arguments again. */
function removePatterns(node: Schema, isChecked: (pattern: string) => boolean): void {
  if (typeof node.pattern === 'string' && !isChecked(node.pattern)) delete node.pattern;
  const names = Object.keys(node.patternProperties ?? {});
  for (const name of names.filter((pattern) => !isChecked(pattern))) {
    delete node.patternProperties?.[name];
    // The pattern may allow any property.
    node.additionalProperties = true;
  }
}

/**
 * Converts a boolean bound of draft 4: `exclusiveMinimum: true` makes `minimum` exclusive. Some servers use this form
 * with a later `$schema`.
 */
function convertBound(
  node: Schema,
  bound: 'minimum' | 'maximum',
  exclusive: 'exclusiveMinimum' | 'exclusiveMaximum',
): void {
  const isExclusive = node[exclusive];
  if (typeof isExclusive !== 'boolean') return;
  delete node[exclusive];
  if (!isExclusive || node[bound] === undefined) return;
  node[exclusive] = node[bound];
  delete node[bound];
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'u') !== undefined;
  } catch {
    return false;
  }
}

/** Returns the first `$ref` to a schema that does not exist, or undefined. */
export function lostIn(lookup: Lookup): string | undefined {
  const schemas = Object.values(lookup).filter((node) => typeof node === 'object');
  return schemas.find(({ $ref, __absolute_ref__: uri = $ref }) => uri !== undefined && lookup[uri] === undefined)?.$ref;
}
