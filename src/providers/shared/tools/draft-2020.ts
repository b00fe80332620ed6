import { describeValue, OptionInvalidError } from '../../../errors.js';
import type { JsonSchema } from '../../../internal/json.js';
import { pathText } from '../../../internal/problem.js';
import { isObject, type WireObject } from '../wire.js';
import { withAnchors } from './anchors.js';
import { formOf, type ValueProblem, validNames, validValue } from './keywords.js';
import { withPlainPatterns } from './plain-patterns.js';
import { movedReference } from './references.js';

const MAX_STEPS = 400;

const known = new WeakMap<JsonSchema, JsonSchema | OptionInvalidError>();

/**
 * Returns a schema in the form of JSON Schema 2020-12, which providers check. Every array gets `items`, because OpenAI
 * refuses an array without them. Tuples and exclusive bounds of older drafts are rewritten, and references with them.
 * Invalid annotations are repaired or dropped, and patterns that Python cannot compile move into descriptions. Returns `schema` itself if nothing changes. Throws an OptionInvalidError
 * if the schema does not match the meta-schema then.
 */
export function toDraft2020(schema: JsonSchema): JsonSchema {
  const result = known.get(schema) ?? converted(schema);
  known.set(schema, result);
  if (result instanceof OptionInvalidError) throw result;
  return result;
}

function converted(schema: JsonSchema): JsonSchema | OptionInvalidError {
  try {
    return new Converter(schema).schema(schema) as JsonSchema;
  } catch (error) {
    if (error instanceof OptionInvalidError) return error;
    throw error;
  }
}

class Converter {
  private readonly path: (string | number)[] = [];
  /** The schema that references `#/…` begin at: the root, or the nearest schema with an `$id`. */
  private base: WireObject;

  constructor(private readonly root: WireObject) {
    this.base = root;
  }

  schema(node: unknown): unknown {
    if (typeof node === 'boolean' || this.path.length > MAX_STEPS) return node;
    if (!isObject(node)) throw this.invalid({ problem: `must be a JSON Schema, got ${describeValue(node)}` });
    const outer = this.base;
    if (typeof node.$id === 'string' && !node.$id.startsWith('#')) this.base = node;
    const shaped = withPlainPatterns(withItems(withBounds(withTuple(withAnchors(node, this.root)))));
    const entries = Object.entries(shaped);
    const valid = entries.map(([key, value]) => [key, this.inside(key, () => this.member(key, value))] as const);
    this.base = outer;
    if (valid.every(([, value], index) => value === entries[index]?.[1])) return shaped;
    return Object.fromEntries(valid.filter(([, value]) => value !== undefined));
  }

  private member(key: string, value: unknown): unknown {
    const form = formOf(key);
    if (value === undefined) return value;
    if (key === 'dependentRequired') return this.map(value, (names) => this.valid(validNames(names)));
    if (key === 'dependencies') return this.map(value, (part) => this.dependency(part));
    if (key === 'contentSchema' && !isObject(value) && typeof value !== 'boolean') return undefined;
    if (key === '$ref' && typeof value === 'string') return movedReference(this.base, value);
    if (form === 'schema') return this.schema(value);
    if (form === 'list') return this.list(value);
    if (form === 'map') return this.map(value, (part) => this.schema(part));
    return this.valid(validValue(key, value));
  }

  private dependency(part: unknown): unknown {
    return Array.isArray(part) ? this.valid(validNames(part)) : this.schema(part);
  }

  private list(value: unknown): unknown {
    if (!Array.isArray(value) || value.length === 0) {
      throw this.invalid({ problem: `must be an array with a JSON Schema, got ${describeValue(value)}` });
    }
    const valid = value.map((part, index) => this.inside(index, () => this.schema(part)));
    return valid.every((part, index) => part === value[index]) ? value : valid;
  }

  private map(value: unknown, convert: (part: unknown) => unknown): unknown {
    if (!isObject(value)) throw this.invalid({ problem: `must be an object, got ${describeValue(value)}` });
    const valid = Object.entries(value).map(([name, part]) => [name, this.inside(name, () => convert(part))] as const);
    return valid.every(([name, part]) => part === value[name]) ? value : Object.fromEntries(valid);
  }

  private valid(result: { readonly value: unknown } | ValueProblem): unknown {
    if ('problem' in result) throw this.invalid(result);
    return result.value;
  }

  private inside<Result>(step: string | number, convert: () => Result): Result {
    this.path.push(step);
    const result = convert();
    this.path.pop();
    return result;
  }

  private invalid({ problem }: ValueProblem): OptionInvalidError {
    return new OptionInvalidError('inputSchema', `\`${pathText(this.path)}\` ${problem}`);
  }
}

/** Up to draft 2019-09, a list in `items` describes a tuple, and `additionalItems` the entries after it. */
function withTuple(node: WireObject): WireObject {
  if (!Array.isArray(node.items)) return node;
  const { items, additionalItems, ...rest } = node;
  const others = isObject(additionalItems) ? additionalItems : {};
  return { ...rest, ...(items.length > 0 && { prefixItems: items }), items: others };
}

/** In draft 4, `exclusiveMinimum: true` makes `minimum` exclusive. */
function withBounds(node: WireObject): WireObject {
  if (typeof node.exclusiveMinimum !== 'boolean' && typeof node.exclusiveMaximum !== 'boolean') return node;
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, ...rest } = node;
  return {
    ...rest,
    ...boundOf({ bound: minimum, exclusive: exclusiveMinimum }, ['minimum', 'exclusiveMinimum']),
    ...boundOf({ bound: maximum, exclusive: exclusiveMaximum }, ['maximum', 'exclusiveMaximum']),
  };
}

function boundOf(
  { bound, exclusive }: { readonly bound: unknown; readonly exclusive: unknown },
  [inclusiveName, exclusiveName]: readonly [string, string],
): WireObject {
  if (exclusive === true) return bound === undefined ? {} : { [exclusiveName]: bound };
  return {
    ...(bound !== undefined && { [inclusiveName]: bound }),
    ...(typeof exclusive === 'number' && { [exclusiveName]: exclusive }),
  };
}

function withItems(node: WireObject): WireObject {
  const isArray = [node.type].flat().includes('array');
  return isArray && !isObject(node.items) && node.items !== false ? { ...node, items: {} } : node;
}
