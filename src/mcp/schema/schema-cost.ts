import { isObject, type JsonSchema } from '../../internal/json.js';
import { isWithin, StepCount } from './step-count.js';

/** Characters of all URIs that the validator builds for a schema it accepts. A tool of 262,144 characters needs less. */
const MOST_URI_LENGTH = 8_000_000;

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
export function isCompilable(schema: JsonSchema, limit: number = MOST_URI_LENGTH): boolean {
  return isWithin(() => visit(schema, { length: 0, steps: new StepCount(limit) }));
}

interface Place {
  /** The number of characters of the URI so far. */
  readonly length: number;
  readonly steps: StepCount;
}

function visit(schema: unknown, { length, steps }: Place): void {
  steps.add(20 + length);
  if (!isObject(schema)) return;
  const uri = [schema.$id, schema.id, schema.$ref, schema.$anchor].reduce<number>(
    (sum, text) => sum + (typeof text === 'string' ? text.length : 0),
    length,
  );
  steps.add(uri);
  const visits = length > 0 && (schema.$id || schema.id) ? 2 : 1;
  for (let times = 0; times < visits; times++) visitMembers(schema, { length: uri, steps });
}

function visitMembers(schema: JsonSchema, { length, steps }: Place): void {
  for (const key of Object.keys(schema)) {
    if (PLAIN.has(key)) continue;
    const member = schema[key];
    const inside = { length: length + key.length + 1, steps };
    if (Array.isArray(member)) {
      if (ARRAYS.has(key)) for (const item of member) visit(item, { ...inside, length: inside.length + 6 });
    } else if (!isObject(member)) steps.add(1);
    else if (MAPS.has(key)) {
      for (const name of Object.keys(member))
        visit(member[name], { ...inside, length: inside.length + name.length + 1 });
    } else visit(member, inside);
  }
}
