import { isObject, type JsonSchema } from '../../internal/json.js';

/** Limit of visited schemas and of their members. Nested references could otherwise take exponential time. */
const MOST_STEPS = 50_000;
const NUMBER = /^\s*-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?\s*$/;

type JsonType = 'null' | 'boolean' | 'number' | 'integer' | 'string' | 'array' | 'object';
type Fields = Readonly<Record<string, unknown>>;

/**
 * Converts arguments to the types that the schema expects: numbers, booleans, arrays and objects that were sent as
 * strings, and strings that were sent as numbers or booleans. Removes `null` values of optional properties, and unknown
 * properties if the schema forbids them. Returns `input` itself if nothing changes. Checks nothing.
 */
export function coerceArguments(schema: JsonSchema, input: unknown): unknown {
  try {
    return new Coercion(schema).value(schema, input);
  } catch (error) {
    // Also a schema that is nested too deeply for the stack.
    if (error instanceof RangeError) return input;
    throw error;
  }
}

/** Thrown after `MOST_STEPS`. */
class StepsExceededError extends RangeError {}

class Coercion {
  private steps = 0;

  constructor(private readonly root: JsonSchema) {}

  value(node: unknown, value: unknown): unknown {
    this.count(1);
    if (!isObject(node)) return value;
    this.countMembers(node);
    // A string may be read as JSON.
    if (typeof value === 'string') this.count(value.length / 100);
    const referred = typeof node.$ref === 'string' ? this.value(this.resolve(node.$ref), value) : value;
    const combined = listOf(node.allOf).reduce((now, part) => this.value(part, now), referred);
    const chosen = this.alternative(node, combined);
    return this.members(node, toType(typesOf(node), chosen));
  }

  /** Applies the branch of `anyOf` and `oneOf` that fits, or the first that fits after a conversion. */
  private alternative(node: Fields, value: unknown): unknown {
    const branches = [...listOf(node.anyOf), ...listOf(node.oneOf)];
    if (branches.length === 0) return value;
    const fitting = branches.filter((branch) => this.fits(branch, value));
    // With several branches for objects, only the check can tell which one is meant.
    if (fitting.length > 0) return fitting.length === 1 ? this.value(fitting[0], value) : value;
    for (const branch of branches) {
      const converted = this.value(branch, value);
      if (converted !== value && this.fits(branch, converted)) return converted;
    }
    return value;
  }

  private members(node: Fields, value: unknown): unknown {
    if (Array.isArray(value)) return this.entries(node, value);
    return isObject(value) && isObject(node.properties) ? this.properties(node, node.properties, value) : value;
  }

  private entries(node: Fields, value: readonly unknown[]): unknown {
    const { items, prefixItems } = node;
    const first = Array.isArray(prefixItems) ? prefixItems : listOf(items);
    const rest = isObject(items) ? items : undefined;
    const converted = value.map((entry, index) => this.value(first[index] ?? rest, entry));
    return converted.some((entry, index) => entry !== value[index]) ? converted : value;
  }

  private properties(node: Fields, schemas: Fields, value: Fields): unknown {
    const required = new Set(listOf(node.required));
    const isClosed = forbidsOthers(node);
    let isChanged = false;
    const kept = Object.entries(value).flatMap(([name, before]) => {
      const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
      const isUnknown = schema === undefined && isClosed;
      const isAbsent = before === null && schema !== undefined && !required.has(name) && !this.fits(schema, null);
      const after = isUnknown || isAbsent ? undefined : this.value(schema, before);
      isChanged ||= after !== before;
      return isUnknown || isAbsent ? [] : [[name, after] as const];
    });
    // `Object.fromEntries` makes `__proto__` a plain property.
    return isChanged ? Object.fromEntries(kept) : value;
  }

  /** True if the type of the value is allowed. Of the members of the value, checks only constant ones. */
  private fits(node: unknown, value: unknown): boolean {
    this.count(1);
    if (!isObject(node)) return node !== false;
    this.countMembers(node);
    if (value === null && node.nullable === true) return true;
    const types = typesOf(node);
    if (types !== undefined && !types.some((type) => isOfType(type, value))) return false;
    if (Array.isArray(node.enum) && !isObject(value) && !node.enum.includes(value)) return false;
    if ('const' in node && !isObject(value) && node.const !== value) return false;
    if (isObject(value) && isObject(node.properties) && !hasConstants(node.properties, value)) return false;
    if (typeof node.$ref === 'string' && !this.fits(this.resolve(node.$ref), value)) return false;
    if (!listOf(node.allOf).every((part) => this.fits(part, value))) return false;
    return [node.anyOf, node.oneOf].every(
      (branches) => !Array.isArray(branches) || branches.some((branch) => this.fits(branch, value)),
    );
  }

  private countMembers({ enum: values, type, required }: Fields): void {
    this.count(listOf(values).length + listOf(type).length + listOf(required).length);
  }

  private count(steps: number): void {
    this.steps += steps;
    if (this.steps > MOST_STEPS) throw new StepsExceededError('too many schemas');
  }

  /** Finds the schema of a reference inside the document. Other references convert nothing. */
  private resolve(reference: string): unknown {
    if (!reference.startsWith('#')) return undefined;
    const steps = reference.slice(1).split('/').slice(1);
    this.count(reference.length / 10);
    return steps.map(pointerStep).reduce<unknown>((node, step) => {
      const isOwn = typeof node === 'object' && node !== null && Object.hasOwn(node, step);
      return isOwn ? (node as Fields)[step] : undefined;
    }, this.root);
  }
}

/** False if a constant property has another value. Such properties tell the branches of a union apart. */
function hasConstants(schemas: Fields, value: Fields): boolean {
  return Object.entries(schemas).every(([name, schema]) => {
    const isConstant = isObject(schema) && 'const' in schema && typeof schema.const !== 'object';
    return !isConstant || !Object.hasOwn(value, name) || schema.const === value[name];
  });
}

function pointerStep(step: string): string {
  const plain = step.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

/** Returns the allowed types, or undefined if every type is allowed. */
function typesOf(node: Fields): readonly JsonType[] | undefined {
  const { type, enum: values } = node;
  if (typeof type === 'string') return [type as JsonType];
  if (Array.isArray(type)) return type;
  if (Array.isArray(values)) return values.map(typeOf);
  return 'const' in node ? [typeOf(node.const)] : undefined;
}

function typeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value as JsonType;
}

function isOfType(type: JsonType, value: unknown): boolean {
  return type === 'integer' ? Number.isInteger(value) : typeOf(value) === type;
}

/** Converts a value of a wrong type to one of the types, if the conversion loses nothing. */
function toType(types: readonly JsonType[] | undefined, value: unknown): unknown {
  if (types === undefined || types.some((type) => isOfType(type, value))) return value;
  if (typeof value === 'string') return fromString(types, value);
  const isScalar = typeof value === 'number' || typeof value === 'boolean';
  if (isScalar && types.includes('string')) return String(value);
  if (types.includes('boolean') && (value === 0 || value === 1)) return value === 1;
  return value;
}

function fromString(types: readonly JsonType[], value: string): unknown {
  const word = value.trim().toLowerCase();
  if (types.includes('boolean') && (word === 'true' || word === 'false')) return word === 'true';
  if (types.includes('null') && word === 'null') return null;
  const isJson = NUMBER.test(value) || /^\s*[[{]/.test(value);
  const read = isJson ? readJson(value) : undefined;
  if (read === undefined || (typeof read === 'number' && isInexact(read))) return value;
  return types.some((type) => isOfType(type, read)) ? read : value;
}

/** True for a number whose digits may have been lost. */
function isInexact(value: number): boolean {
  return !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** With patterns for names, only the check can tell which properties are forbidden. */
function forbidsOthers(node: Fields): boolean {
  if (node.patternProperties !== undefined) return false;
  if (node.additionalProperties === false) return true;
  const isCombined = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'dependentSchemas'].some((key) => key in node);
  return node.unevaluatedProperties === false && !isCombined;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
