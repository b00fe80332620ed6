import { isObject } from '../../internal/json.js';

export { isObject };

/**
 * A JSON object in a request or a response. The fields of a response are untrusted, so code must check each field that
 * it reads.
 */
export type WireObject = { readonly [field: string]: unknown };

/** Returns the objects in an array. Returns an empty array for any other value. */
export function objectsIn(value: unknown): readonly WireObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Returns the value if it is a string, else an empty string. */
export function textOr(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Parses JSON. Returns undefined if it is invalid. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the first 200 characters of a value as JSON, for an error message. */
export function excerptOf(body: unknown): string {
  return JSON.stringify(body)?.slice(0, 200) ?? 'nothing';
}

/** Returns a copy of the object without fields that are undefined. */
export function defined<T extends object>(object: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  const kept = Object.entries(object).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as { [Key in keyof T]?: Exclude<T[Key], undefined> };
}

/** Returns a copy of the object without fields that are undefined or null. */
export function present(object: WireObject): WireObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null && value !== undefined));
}

/** True for an object with at least one field. */
export function hasFields(value: unknown): value is WireObject {
  return isObject(value) && Object.keys(value).length > 0;
}

/**
 * Returns a copy in which lone surrogates are replaced. A string that was cut inside an emoji ends in a lone surrogate,
 * which servers refuse in every later request of the conversation.
 */
export function wellFormed<T>(value: T): T;
export function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/\p{Cs}/gu, '\uFFFD');
  if (Array.isArray(value)) return value.map(wellFormed);
  // Values with `toJSON`, such as dates, are serialized by JSON.stringify.
  if (!isObject(value) || typeof value.toJSON === 'function') return value;
  return Object.fromEntries(Object.entries(value).map((entry) => entry.map(wellFormed)));
}
