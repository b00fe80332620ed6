import { referenceTo, stepsOf, withReferences } from '../shared/tools/references.js';
import { isObject, type WireObject } from '../shared/wire.js';

/** The names of a tool's properties in requests, by the tool's own names. Contains only names that differ. */
export type Renames = ReadonlyMap<string, string>;

/** Keywords with a schema of the same object. */
const SAME = ['not', 'if', 'then', 'else'];
/** Keywords with an array of schemas of the same object. */
const SAME_LISTS = ['allOf', 'anyOf', 'oneOf'];
/** Keywords that map names of properties to schemas of the same object, or to other names. */
const BY_NAME = ['dependentSchemas', 'dependentRequired', 'dependencies'];

/** Returns the schema with other names of the properties at its root, in all keywords and references that name them. */
export function withRenames(schema: WireObject, renames: Renames): WireObject {
  return withReferences(renamedIn(schema, renames), (reference) => renamedReference(reference, renames));
}

/** Returns the fields with other names. */
export function renamed(fields: WireObject, names: Renames): WireObject {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [names.get(name) ?? name, value]));
}

function renamedIn(schema: WireObject, renames: Renames): WireObject {
  // A renamed property would not match a restriction of its name.
  const { propertyNames, ...kept } = schema;
  return Object.fromEntries(Object.entries(kept).map(([key, value]) => [key, renamedValue(key, value, renames)]));
}

function renamedValue(key: string, value: unknown, renames: Renames): unknown {
  if (key === 'properties') return isObject(value) ? renamed(value, renames) : value;
  if (key === 'required' || SAME.includes(key)) return renamedPart(value, renames);
  if (SAME_LISTS.includes(key) && Array.isArray(value)) return value.map((part) => renamedPart(part, renames));
  if (!BY_NAME.includes(key) || !isObject(value)) return value;
  const parts = Object.entries(value).map(([name, part]) => [name, renamedPart(part, renames)]);
  return renamed(Object.fromEntries(parts), renames);
}

function renamedPart(part: unknown, renames: Renames): unknown {
  if (Array.isArray(part)) return part.map((name) => renames.get(name) ?? name);
  return isObject(part) ? renamedIn(part, renames) : part;
}

/** Changes `#/properties/$filter` to `#/properties/_filter`, also inside `then` and other schemas of the same object. */
function renamedReference(reference: string, renames: Renames): string {
  const steps = stepsOf(reference) ?? [];
  const moved = [...steps];
  for (let at = 0; ; at += 1) {
    const key = steps[at] ?? '';
    const isNamed = key === 'properties' || BY_NAME.includes(key);
    if (SAME.includes(key)) continue;
    if (!isNamed && !SAME_LISTS.includes(key)) break;
    at += 1;
    const name = steps[at];
    if (isNamed && name !== undefined) moved[at] = renames.get(name) ?? name;
    if (key === 'properties') break;
  }
  return moved.some((step, index) => step !== steps[index]) ? referenceTo(moved) : reference;
}
