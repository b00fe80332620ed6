import { describeValue, OptionInvalidError } from '../../../errors.js';
import type { JsonSchema } from '../../../internal/json.js';
import { pathText } from '../../../internal/problem.js';
import { defined, isObject, textOr, type WireObject } from '../wire.js';
import { formOf, type ValueProblem, validNames, validValue } from './keywords.js';
import { movedReference } from './references.js';

const MAX_STEPS = 400;

const known = new WeakMap<JsonSchema, JsonSchema | OptionInvalidError>();

/**
 * Converts a schema to JSON Schema 2020-12, which providers require. Each array gets `items`, because OpenAI refuses an
 * array without it. Rewrites tuples and exclusive bounds of older drafts, and the references to them.
 *
 * Repairs or drops invalid annotations. Patterns that Python cannot compile move into descriptions. Returns `schema`
 * itself if nothing changes. Throws an OptionInvalidError if the result is still invalid.
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
  /**
   * The schema to which references such as `#/…` are relative: the root, or the nearest enclosing schema with an `$id`.
   */
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

/**
 * Rewrites a tuple. Until draft 2019-09, an array in `items` describes the items of a tuple, and `additionalItems` the
 * items after it.
 */
function withTuple(node: WireObject): WireObject {
  if (!Array.isArray(node.items)) return node;
  const { items, additionalItems, ...rest } = node;
  const others = isObject(additionalItems) ? additionalItems : {};
  return items.length > 0 ? { ...rest, prefixItems: items, items: others } : { ...rest, items: others };
}

/** Rewrites exclusive bounds. In draft 4, `exclusiveMinimum: true` makes the bound in `minimum` exclusive. */
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
  return defined({ [inclusiveName]: bound, [exclusiveName]: typeof exclusive === 'number' ? exclusive : undefined });
}

function withItems(node: WireObject): WireObject {
  const isArray = [node.type].flat().includes('array');
  return isArray && !isObject(node.items) && node.items !== false ? { ...node, items: {} } : node;
}

const NAMES = ['id', '$id', '$anchor', '$dynamicAnchor', '$recursiveAnchor'];
const ANCHOR = /^[A-Za-z_][-A-Za-z0-9._]*$/;
/** Matches an `$id` that draft 2020-12 allows: without a fragment, or with an empty one. */
const ID = /^[^#]*#?$/;

/**
 * Returns a schema whose `$id`, `$anchor` and similar names are valid in draft 2020-12. Drops an invalid name. If a
 * reference uses the name, such as `$id: "#name"` of draft 7, the name becomes an `$anchor` instead.
 */
function withAnchors(node: WireObject, root: WireObject): WireObject {
  const invalid = NAMES.filter((key) => node[key] !== undefined && !isValidName(key, node[key]));
  if (invalid.length === 0) return node;
  const anchor = invalid.map((key) => anchorIn(node[key])).find((name) => name !== undefined && isReferred(name, root));
  // In draft 4, `id` is the same keyword. In later drafts it has no meaning and stays.
  const dropped = Object.fromEntries(invalid.filter((key) => key !== 'id' || anchor).map((key) => [key, undefined]));
  const kept = { ...node, ...dropped };
  return defined(anchor === undefined ? kept : { ...kept, $anchor: anchor });
}

function isValidName(key: string, name: unknown): boolean {
  if (key === 'id') return typeof name !== 'string' || !name.startsWith('#');
  return typeof name === 'string' && (key === '$id' ? ID : ANCHOR).test(name);
}

function anchorIn(name: unknown): string | undefined {
  const text = typeof name === 'string' ? name.replace(/^#/, '') : '';
  return ANCHOR.test(text) ? text : undefined;
}

function isReferred(anchor: string, root: WireObject): boolean {
  const text = JSON.stringify(root);
  return ['$ref', '$dynamicRef'].some((key) => text.includes(`"${key}":"#${anchor}"`));
}

/**
 * Matches regular expression syntax that Python does not have: `\p{L}`, `\u{1F600}`, `\k<name>`, `\cA`, `(?<name>…)`,
 * `(?<=…)`, `[]` and `[^]`. Lookbehinds are included, because Python only supports them with a fixed length.
 */
const NOT_PYTHON = /\\(?:[pPkc]|u\{)|\(\?<|\[\^?\]/;

/**
 * Moves patterns that Python cannot compile into the description, because OpenAI refuses a request with such a pattern.
 * The arguments are still checked against the patterns.
 */
function withPlainPatterns(node: WireObject): WireObject {
  const { pattern, patternProperties } = node;
  const isOdd = typeof pattern === 'string' && !isPlain(pattern);
  const odd = isObject(patternProperties) ? Object.keys(patternProperties).filter((key) => !isPlain(key)) : [];
  if (!isOdd && odd.length === 0) return node;
  const limits = { pattern: isOdd ? pattern : undefined, patternProperties: odd.length > 0 ? odd : undefined };
  const description = [textOr(node.description), `(${JSON.stringify(limits)})`].filter(Boolean).join(' ');
  const { pattern: _, ...rest } = node;
  const kept = isOdd ? rest : node;
  return { ...(odd.length > 0 ? openObject(kept, odd) : kept), description };
}

/**
 * Allows additional properties in an object, because properties that only a removed pattern allowed would be refused
 * otherwise.
 */
function openObject(node: WireObject, odd: readonly string[]): WireObject {
  const patterns = Object.entries(node.patternProperties as WireObject).filter(([key]) => !odd.includes(key));
  return {
    ...node,
    patternProperties: Object.fromEntries(patterns),
    additionalProperties: true,
    unevaluatedProperties: true,
  };
}

function isPlain(pattern: string): boolean {
  try {
    new RegExp(pattern, 'u');
    return !NOT_PYTHON.test(pattern.replaceAll('\\\\', ''));
  } catch {
    return false;
  }
}
