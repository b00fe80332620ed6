/** The types of JSON Schema. */
export type JsonType = 'null' | 'boolean' | 'number' | 'integer' | 'string' | 'array' | 'object';

const NUMBER = /^\s*-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?\s*$/;

/** Returns the types that a schema allows, or undefined if it allows every type. */
export function typesOf(node: Readonly<Record<string, unknown>>): readonly JsonType[] | undefined {
  const { type, enum: values } = node;
  if (typeof type === 'string') return [type as JsonType];
  if (Array.isArray(type)) return type;
  if (Array.isArray(values)) return values.map(typeOf);
  return 'const' in node ? [typeOf(node.const)] : undefined;
}

/** Converts a value of a wrong type to one of the types, if the conversion loses nothing. */
export function toType(types: readonly JsonType[] | undefined, value: unknown): unknown {
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
