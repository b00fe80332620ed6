import { isObject, type JsonSchema } from '../../internal/json.js';

type Fields = Readonly<Record<string, unknown>>;
const TYPES = ['null', 'boolean', 'number', 'integer', 'string', 'array', 'object'] as const;
type JsonType = (typeof TYPES)[number];

/**
 * Converts arguments to the types that the schema declares: numbers, booleans, arrays and objects that were sent as
 * strings, and strings that were sent as numbers or booleans. Removes `null` values of optional properties, and unknown
 * properties if the schema forbids them. All branches of a union count, so a value stays if one branch declares its
 * type. Returns `input` itself if nothing changes.
 */
export function coerceArguments(schema: JsonSchema, input: unknown): unknown {
  try {
    const shape = shapes.get(schema) ?? new Shape(schema, [schema]);
    shapes.set(schema, shape);
    return convert(shape, input);
  } catch (error) {
    // The arguments or the references are nested too deeply for the stack.
    if (error instanceof RangeError) return input;
    throw error;
  }
}

const shapes = new WeakMap<JsonSchema, Shape>();

function convert(shape: Shape, given: unknown): unknown {
  const value = toType(shape.types, given);
  if (Array.isArray(value)) {
    const converted = value.map((entry, index) => convert(shape.entry(index), entry));
    return converted.some((entry, index) => entry !== value[index]) ? converted : value;
  }
  return isObject(value) ? convertProperties(shape, value) : value;
}

function convertProperties(shape: Shape, value: Fields): Fields {
  let isChanged = false;
  const kept = Object.entries(value).flatMap(([name, before]) => {
    const property = shape.property(name);
    const isRemoved =
      property === undefined ||
      (before === null && !shape.required.has(name) && property.types?.includes('null') === false);
    const after = isRemoved ? undefined : convert(property, before);
    isChanged ||= isRemoved || after !== before;
    return isRemoved ? [] : [[name, after] as const];
  });
  // `Object.fromEntries` makes `__proto__` a plain property.
  return isChanged ? Object.fromEntries(kept) : value;
}

/** A schema that allows every value. */
const ANYTHING = {};

/**
 * The schemas that may apply to one value, such as the branches of a union. Each shape is computed once, so a
 * conversion takes linear time.
 */
class Shape {
  /** The types that one of the schemas declares. Undefined if one of them allows every type. */
  readonly types: readonly JsonType[] | undefined;
  readonly required: ReadonlySet<unknown>;
  private readonly parts: readonly Fields[];
  private readonly isClosed: boolean;
  private readonly inner = new Map<string, Shape | undefined>();

  constructor(
    private readonly root: JsonSchema,
    schemas: readonly unknown[],
  ) {
    const found = new Set(schemas);
    // The loop also visits what it adds.
    for (const part of found) for (const inside of this.partsIn(part)) found.add(inside);
    this.parts = [...found].filter(isObject);
    this.types = typesOf(schemas.map((schema) => this.read(schema, DECLARED)));
    this.required = new Set(this.parts.flatMap(({ required }) => listOf(required)));
    this.isClosed = schemas.length > 0 && schemas.every((schema) => this.read(schema, CLOSED));
  }

  property(name: string): Shape | undefined {
    const isNamed = this.parts.some((part) => hasOwn(part.properties, name));
    return this.within(isNamed ? `.${name}` : '', () => {
      const schemas = this.parts.flatMap((part): unknown[] => {
        if (hasOwn(part.properties, name)) return [part.properties[name]];
        // A pattern of a server could take minutes, so it may match any name.
        if (isObject(part.patternProperties)) return [ANYTHING];
        return isObject(part.additionalProperties) ? [part.additionalProperties] : [];
      });
      return schemas.length === 0 && this.isClosed ? undefined : schemas;
    });
  }

  entry(index: number): Shape {
    const isPlaced = this.parts.some((part) => index < placesOf(part).length);
    const shape = this.within(`#${isPlaced ? index : ''}`, () =>
      this.parts.flatMap((part): unknown[] => {
        const { items, additionalItems } = part;
        const schema = placesOf(part)[index] ?? (Array.isArray(items) ? additionalItems : items);
        return isObject(schema) ? [schema] : [];
      }),
    );
    return shape ?? this;
  }

  private within(key: string, schemasOf: () => readonly unknown[] | undefined): Shape | undefined {
    if (this.inner.has(key)) return this.inner.get(key);
    const schemas = schemasOf();
    const [first] = schemas ?? [];
    // A schema that refers to itself has one shape.
    const known = schemas?.length === 1 && isObject(first) ? shapes.get(first) : undefined;
    const shape = known ?? (schemas && new Shape(this.root, schemas));
    if (schemas?.length === 1 && isObject(first) && shape !== undefined) shapes.set(first, shape);
    this.inner.set(key, shape);
    return shape;
  }

  private partsIn(part: unknown): readonly unknown[] {
    if (!isObject(part)) return [];
    const { allOf, anyOf, oneOf, dependentSchemas } = part;
    const dependents = isObject(dependentSchemas) ? Object.values(dependentSchemas) : [];
    const inside = [...[allOf, anyOf, oneOf].flatMap(listOf), part.if, part.then, part.else, ...dependents];
    return [...this.targetOf(part), ...inside];
  }

  /** Returns the schema that a reference leads to. A reference that is not a path from the root may mean any schema. */
  private targetOf({ $ref, $dynamicRef, $recursiveRef }: Fields): readonly unknown[] {
    if (($dynamicRef ?? $recursiveRef) !== undefined) return [OPEN];
    if ($ref === undefined) return [];
    const target = typeof $ref === 'string' && /^#(\/|$)/.test($ref) ? follow(this.root, $ref) : undefined;
    return [target ?? OPEN];
  }

  /** Applies a rule to a schema. Without a value, applies it to the schemas that must match too, then to the unions. */
  private read<Value>(schema: unknown, rule: Rule<Value>, seen = new Set<unknown>()): Value | undefined {
    if (!isObject(schema) || seen.has(schema)) return undefined;
    seen.add(schema);
    const again = (part: unknown) => this.read(part, rule, seen);
    let found = rule.own(schema);
    for (const part of [...this.targetOf(schema), ...listOf(schema.allOf)]) found ??= again(part);
    for (const branches of [schema.anyOf, schema.oneOf].map(listOf)) {
      if (branches.length > 0) found ??= rule.union(branches, again);
    }
    return found;
  }
}

interface Rule<Value> {
  readonly own: (schema: Fields) => Value | undefined;
  readonly union: (branches: readonly unknown[], read: (branch: unknown) => Value | undefined) => Value | undefined;
}

const DECLARED: Rule<readonly JsonType[]> = {
  own: ownTypes,
  union: (branches, read) => typesOf(branches.map(read)),
};

const CLOSED: Rule<boolean> = {
  own: (schema) => schema.additionalProperties === false || schema.unevaluatedProperties === false || undefined,
  union: (branches, read) => branches.every(read) || undefined,
};

/** A schema that allows any properties. Used in place of the target of a reference that is not followed. */
const OPEN = { additionalProperties: ANYTHING };

function hasOwn(map: unknown, name: string): map is Fields {
  return isObject(map) && Object.hasOwn(map, name);
}

function placesOf({ prefixItems, items }: Fields): readonly unknown[] {
  return Array.isArray(prefixItems) ? prefixItems : listOf(items);
}

function follow(root: JsonSchema, reference: string): unknown {
  const steps = reference.split('/').slice(1);
  return steps.reduce<unknown>((node, step) => {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    // A reference does not reach into a nested schema with its own `$id`, which is the root of its own references.
    const isReached = Array.isArray(node) || (hasOwn(node, name) && (node === root || node.$id === undefined));
    return isReached ? (node as Fields)[name] : undefined;
  }, root);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Combines the types of branches. Returns undefined without branches, or if one of the branches allows every type. */
function typesOf(branches: readonly (readonly JsonType[] | undefined)[]): readonly JsonType[] | undefined {
  const known = branches.filter((types) => types !== undefined);
  return known.length === 0 || known.length < branches.length ? undefined : [...new Set(known.flat())];
}

function ownTypes(schema: Fields): readonly JsonType[] | undefined {
  const { type, enum: values, nullable } = schema;
  const extra = nullable === true ? (['null'] as const) : [];
  if (typeof type === 'string') return [type as JsonType, ...extra];
  if (Array.isArray(type)) return TYPES.filter((known) => [...type, ...extra].includes(known));
  const allowed = values === undefined && 'const' in schema ? [schema.const] : values;
  return Array.isArray(allowed) ? [...new Set(allowed.map(typeOf)), ...extra] : undefined;
}

const NUMBER = /^\s*-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?\s*$/;

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

/** True if the value is or contains a number so large that digits may have been lost. Such numbers are often ids. */
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
