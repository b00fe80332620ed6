import { referenceTo, stepsOf, withReferences } from '../shared/tools/references.js';
import { isObject, type WireObject } from '../shared/wire.js';

/** Maps the tool's own property names to the names in requests. Contains only names that differ. */
export type Renames = ReadonlyMap<string, string>;

/** Keywords whose value is a schema for the same object, and not for a value inside it. */
const SAME = ['not', 'if', 'then', 'else'];
/** Keywords whose value is an array of schemas for the same object. */
const SAME_LISTS = ['allOf', 'anyOf', 'oneOf'];
/** Keywords whose value maps property names to schemas for the same object, or to other property names. */
const BY_NAME = ['dependentSchemas', 'dependentRequired', 'dependencies'];

/**
 * Returns the schema with other names for the properties at its root. Also changes all keywords and references that use
 * these names.
 *
 * Only the arguments at the root are translated back in a response. So a nested reference to the root, such as `#` in a
 * recursive filter, refers to a copy with the original names.
 */
export function withRenames(schema: WireObject, renames: Renames): WireObject {
  const { $defs, definitions, $schema, $id, ...root } = schema;
  const defined = isObject($defs) ? $defs : {};
  const renamer = new Renamer(renames, freeName('root', new Set(Object.keys(defined))));
  const whole = renamer.object(schema);
  if (!renamer.isCopied) return whole;
  const copy = renamer.nested(root);
  return { ...whole, $defs: { ...(isObject(whole.$defs) && whole.$defs), [renamer.copy]: copy } };
}

/**
 * Returns the name itself if it is not in `taken`. Otherwise returns the name with a number at its end, with at most
 * `longest` characters.
 */
export function freeName(name: string, taken: ReadonlySet<string>, longest = name.length + 9): string {
  for (let count = 1; ; count += 1) {
    const end = count === 1 ? '' : `_${count}`;
    const candidate = name.slice(0, longest - end.length) + end;
    if (!taken.has(candidate)) return candidate;
  }
}

/** Returns a copy of an object in which some fields have other names. */
export function renamed(fields: WireObject, names: Renames): WireObject {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [names.get(name) ?? name, value]));
}

class Renamer {
  /**
   * True if a nested schema refers to the root, so that the result needs a copy of the root with the original names.
   */
  isCopied = false;

  constructor(
    private readonly renames: Renames,
    readonly copy: string,
  ) {}

  /** Renames the properties in a schema that describes the root object. */
  object(schema: WireObject): WireObject {
    // A restriction of property names would not match a new name.
    const { propertyNames, ...kept } = schema;
    return Object.fromEntries(Object.entries(kept).map(([key, value]) => [key, this.value(key, value)]));
  }

  /** Changes the references in a schema that describes a nested value. Keeps its property names. */
  nested(schema: WireObject): WireObject {
    return withReferences(schema, (reference) => {
      if (!meansRoot(reference)) return renamedReference(reference, this.renames);
      this.isCopied = true;
      return referenceTo(['$defs', this.copy, ...(stepsOf(reference) ?? [])]);
    });
  }

  private value(key: string, value: unknown): unknown {
    if (key === '$ref' && typeof value === 'string') return renamedReference(value, this.renames);
    if (key === 'required' || SAME.includes(key)) return this.part(value);
    if (SAME_LISTS.includes(key) && Array.isArray(value)) return value.map((part) => this.part(part));
    if (BY_NAME.includes(key) && isObject(value)) {
      const parts = Object.entries(value).map(([name, part]) => [name, this.part(part)]);
      return renamed(Object.fromEntries(parts), this.renames);
    }
    const { [key]: inner } = this.nested({ [key]: value });
    return key === 'properties' && isObject(inner) ? renamed(inner, this.renames) : inner;
  }

  private part(part: unknown): unknown {
    if (Array.isArray(part)) return part.map((name) => this.renames.get(name) ?? name);
    return isObject(part) ? this.object(part) : part;
  }
}

/** True for a reference to the root schema, or to another schema for the root object, such as `#/then`. */
function meansRoot(reference: string): boolean {
  const steps = [...(stepsOf(reference) ?? [])];
  while (steps.length > 0) {
    const key = steps.shift() ?? '';
    if (SAME.includes(key)) continue;
    if (!SAME_LISTS.includes(key) && !BY_NAME.includes(key)) return false;
    steps.shift();
  }
  return reference === '#' || reference.startsWith('#/');
}

/**
 * Returns a reference in which renamed properties have their new names. For example, `#/properties/$filter` becomes
 * `#/properties/_filter`, also below `then` and similar keywords.
 */
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
