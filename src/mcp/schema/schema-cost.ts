import { isObject, type JsonSchema } from '../../internal/json.js';
import { isWithin, StepCount } from './step-count.js';

/** Characters of all URIs that the validator builds for a schema it accepts. A tool of 262,144 characters needs less. */
const MOST_URI_LENGTH = 8_000_000;
/** The same for a schema that is compiled on the main thread, which takes less than 30 ms. */
const SMALL_URI_LENGTH = 250_000;

/** Keywords that map names to schemas. */
const MAPS = new Set(['$defs', 'definitions', 'properties', 'patternProperties', 'dependentSchemas']);
const ARRAYS = new Set(['prefixItems', 'items', 'allOf', 'anyOf', 'oneOf']);
/** Keywords whose objects hold no schemas. */
const PLAIN = new Set(['default', 'enum', 'const', 'dependentRequired', '$vocabulary']);

/**
 * True if the validator can compile the schema in bounded time and memory. The validator gives each subschema a URI from
 * its path, so long names cost their length once per subschema. It reads a subschema with an `$id` twice, so nested ids
 * double the cost at each level.
 */
export function isCompilable(schema: JsonSchema): boolean {
  return isWithin(() => visit(schema, { length: 0, steps: new StepCount(MOST_URI_LENGTH), allowsOwnUris: true }));
}

/**
 * True if the main thread may compile the schema. No part has a URI of its own, so each reference `#/…` is the path of the
 * part that it means.
 */
export function isSmallSchema(schema: JsonSchema): boolean {
  return isWithin(() => visit(schema, { length: 0, steps: new StepCount(SMALL_URI_LENGTH), allowsOwnUris: false }));
}

interface Place {
  /** The number of characters of the URI so far. */
  readonly length: number;
  readonly steps: StepCount;
  /** False if the count stops at a subschema with a URI of its own. */
  readonly allowsOwnUris: boolean;
}

function visit(schema: unknown, at: Place): void {
  const { length, steps } = at;
  steps.add(20 + length);
  if (!isObject(schema)) return;
  if (!at.allowsOwnUris && hasOwnUri(schema, length > 0)) steps.addUnknown();
  const own = [schema.$id, schema.id, schema.$ref, schema.$anchor].reduce<number>(
    (sum, text) => sum + (typeof text === 'string' ? text.length : 0),
    0,
  );
  const uri = length + own;
  // The validator encodes a reference character by character.
  steps.add(uri + 10 * own);
  const visits = length > 0 && (schema.$id || schema.id) ? 2 : 1;
  for (let times = 0; times < visits; times++) visitMembers(schema, { ...at, length: uri });
}

/** The validator takes `__absolute_ref__` for the URI of a reference that it has resolved. */
function hasOwnUri({ $id, id, $anchor, __absolute_ref__ }: JsonSchema, isInside: boolean): boolean {
  return $anchor !== undefined || __absolute_ref__ !== undefined || (isInside && ($id ?? id) !== undefined);
}

function visitMembers(schema: JsonSchema, at: Place): void {
  const { length, steps } = at;
  for (const key of Object.keys(schema)) {
    if (PLAIN.has(key)) continue;
    const member = schema[key];
    const inside = { ...at, length: length + key.length + 1 };
    if (Array.isArray(member)) {
      if (ARRAYS.has(key)) for (const item of member) visit(item, { ...inside, length: inside.length + 6 });
    } else if (!isObject(member)) steps.add(1);
    else if (MAPS.has(key)) {
      for (const name of Object.keys(member))
        visit(member[name], { ...inside, length: inside.length + name.length + 1 });
    } else visit(member, inside);
  }
}
