import { isObject, type JsonSchema } from '../../internal/json.js';
import { patternCost } from '../schema/pattern-cost.js';
import { StepCount } from '../schema/step-count.js';
import { partsOf, type SchemaParts } from './schema-parts.js';

/** Limit of visited schemas and of their members. Nested references could otherwise take exponential time. */
const MOST_STEPS = 50_000;
/** Limit of the steps of all checks of branches. */
const MOST_CHECK_STEPS = 25_000;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Converts arguments to what the schema accepts: numbers, booleans, arrays and objects that were sent as strings, and
 * strings that were sent as numbers or booleans. Removes `null` values of optional properties, and unknown properties if
 * the schema forbids them. Of a union, takes the first branch whose converted value passes its check. Returns `input`
 * itself if nothing changes.
 */
export function coerceArguments(schema: JsonSchema, input: unknown): unknown {
  try {
    const parts = partsOf(schema);
    return new Coercion(parts).value(parts.root, input);
  } catch (error) {
    // A step limit, a schema that is nested too deeply for the stack, or an invalid pattern.
    if (error instanceof RangeError || error instanceof SyntaxError) return input;
    throw error;
  }
}

class Coercion {
  private readonly steps = new StepCount(MOST_STEPS);
  private readonly checkSteps = new StepCount(MOST_CHECK_STEPS);

  constructor(private readonly parts: SchemaParts) {}

  value(node: unknown, value: unknown): unknown {
    this.steps.add(1);
    if (!isObject(node)) return value;
    this.steps.add(listOf(node.enum).length + listOf(node.type).length + listOf(node.required).length);
    // A string may be read as JSON.
    if (typeof value === 'string') this.steps.add(value.length / 100);
    const referred = typeof node.$ref === 'string' ? this.value(this.parts.resolve(node.$ref), value) : value;
    const combined = listOf(node.allOf).reduce((now, part) => this.value(part, now), referred);
    const chosen = [node.anyOf, node.oneOf].reduce(
      (now, branches) => this.alternative(listOf(branches), now),
      combined,
    );
    return this.members(node, toType(typesOf(node), chosen));
  }

  /** Returns the value itself if it passes a branch. Otherwise the first conversion that passes its branch. */
  private alternative(branches: readonly unknown[], value: unknown): unknown {
    if (branches.some((branch) => this.passes(branch, value))) return value;
    for (const branch of branches) {
      const converted = this.value(branch, value);
      if (converted !== value && this.passes(branch, converted)) return converted;
    }
    return value;
  }

  private members(node: Fields, value: unknown): unknown {
    if (Array.isArray(value)) return this.entries(node, value);
    return isObject(value) ? this.properties(node, value) : value;
  }

  private entries({ items, prefixItems, additionalItems }: Fields, value: readonly unknown[]): unknown {
    const first = Array.isArray(prefixItems) ? prefixItems : listOf(items);
    const rest = Array.isArray(items) ? additionalItems : items;
    if (first.length === 0 && !isObject(rest)) return value;
    const converted = value.map((entry, index) => this.value(first[index] ?? rest, entry));
    return converted.some((entry, index) => entry !== value[index]) ? converted : value;
  }

  private properties(node: Fields, value: Fields): unknown {
    if (!MEMBER_KEYWORDS.some((keyword) => keyword in node)) return value;
    const required = new Set(listOf(node.required));
    let isChanged = false;
    const kept = Object.entries(value).flatMap(([name, before]) => {
      const schemas = this.schemasOf(node, name);
      const isUnknown = schemas === undefined;
      const isAbsent = before === null && !required.has(name) && !schemas?.every((schema) => this.passes(schema, null));
      const after =
        isUnknown || isAbsent ? undefined : schemas.reduce((now, schema) => this.value(schema, now), before);
      isChanged ||= after !== before;
      return isUnknown || isAbsent ? [] : [[name, after] as const];
    });
    // `Object.fromEntries` makes `__proto__` a plain property.
    return isChanged ? Object.fromEntries(kept) : value;
  }

  /** Returns the schemas for a property, or undefined if the property is forbidden. */
  private schemasOf(node: Fields, name: string): readonly unknown[] | undefined {
    this.steps.add(1);
    const own = this.ownSchemasOf(node, name);
    if (own.length > 0) return own;
    const { additionalProperties: others, unevaluatedProperties } = node;
    if (others !== undefined) return others === false ? undefined : [others];
    return unevaluatedProperties === false && !this.isMentioned(node, name) ? undefined : [];
  }

  private ownSchemasOf({ properties, patternProperties }: Fields, name: string): readonly unknown[] {
    const own = isObject(properties) && Object.hasOwn(properties, name) ? [properties[name]] : [];
    if (!isObject(patternProperties)) return own;
    const matching = Object.keys(patternProperties).filter((pattern) => {
      this.steps.add(10 + patternCost(pattern, name));
      return new RegExp(pattern, 'u').test(name);
    });
    return [...own, ...matching.map((pattern) => patternProperties[pattern])];
  }

  /** True if a schema for the same object may evaluate the property. `unevaluatedProperties` does not forbid it then. */
  private isMentioned(node: unknown, name: string): boolean {
    this.steps.add(1);
    if (!isObject(node)) return false;
    if (this.ownSchemasOf(node, name).length > 0) return true;
    const referred = typeof node.$ref === 'string' ? [this.parts.resolve(node.$ref) ?? ANYTHING] : [];
    const dependents = isObject(node.dependentSchemas) ? Object.values(node.dependentSchemas) : [];
    const branches = [node.allOf, node.anyOf, node.oneOf].flatMap(listOf);
    const inside = [...referred, ...branches, node.if, node.then, node.else, ...dependents];
    return inside.some((part) => mayHaveOthers(part) || this.isMentioned(part, name));
  }

  private passes(part: unknown, value: unknown): boolean {
    return this.parts.passes(part, value, this.checkSteps);
  }
}

const MEMBER_KEYWORDS = ['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties'];

/** In place of the part that an unresolved reference means. */
const ANYTHING = { additionalProperties: true };

/** True if the schema evaluates each property. Also for a dynamic reference, whose target is unknown. */
function mayHaveOthers(part: unknown): boolean {
  if (!isObject(part)) return false;
  const { additionalProperties, unevaluatedProperties = additionalProperties, $dynamicRef, $recursiveRef } = part;
  return (unevaluatedProperties ?? false) !== false || ($dynamicRef ?? $recursiveRef) !== undefined;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The types of JSON Schema. */
type JsonType = 'null' | 'boolean' | 'number' | 'integer' | 'string' | 'array' | 'object';

const NUMBER = /^\s*-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?\s*$/;

/** Returns the types that a schema allows, or undefined if it allows every type. */
function typesOf(node: Readonly<Record<string, unknown>>): readonly JsonType[] | undefined {
  const { type, enum: values } = node;
  if (typeof type === 'string') return [type as JsonType];
  if (Array.isArray(type)) return type;
  if (Array.isArray(values)) return values.map(typeOf);
  return 'const' in node ? [typeOf(node.const)] : undefined;
}

/** Converts a value of a wrong type to one of the types, if the conversion loses nothing. */
function toType(types: readonly JsonType[] | undefined, value: unknown): unknown {
  if (types === undefined || types.some((type) => isOfType(type, value))) return value;
  if (typeof value === 'string') return fromString(types, value);
  const isScalar = (typeof value === 'number' && !isInexact(value)) || typeof value === 'boolean';
  if (isScalar && types.includes('string')) return String(value);
  if (types.includes('boolean') && (value === 0 || value === 1)) return value === 1;
  return value;
}

function typeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value as JsonType;
}

function isOfType(type: JsonType, value: unknown): boolean {
  return type === 'integer' ? Number.isInteger(value) : typeOf(value) === type;
}

function fromString(types: readonly JsonType[], value: string): unknown {
  const word = value.trim().toLowerCase();
  if (types.includes('boolean') && (word === 'true' || word === 'false')) return word === 'true';
  if (types.includes('null') && word === 'null') return null;
  const isJson = NUMBER.test(value) || /^\s*[[{]/.test(value);
  const read = isJson ? readJson(value) : undefined;
  if (read === undefined || isInexact(read)) return value;
  return types.some((type) => isOfType(type, read)) ? read : value;
}

/** True if digits of a number may have been lost, also of a number inside of the value. Such numbers are often ids. */
function isInexact(value: unknown): boolean {
  if (typeof value === 'number')
    return Number.isInteger(value) ? !Number.isSafeInteger(value) : !Number.isFinite(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(isInexact);
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
