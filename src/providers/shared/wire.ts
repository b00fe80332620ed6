import { isObject } from '../../internal/json.js';

export { isObject };

/** A JSON object as it stands on the wire. Of one that came, nothing is believed: every field is checked when it is read. */
export type WireObject = { readonly [field: string]: unknown };

/** The objects in a list; none where it is no list. */
export function objectsIn(value: unknown): readonly WireObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** A value where it is a text, else the empty text. */
export function textOr(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** What a text says as JSON; undefined where it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The beginning of what came, for a message. */
export function excerptOf(body: unknown): string {
  return JSON.stringify(body)?.slice(0, 200) ?? 'nothing';
}

/** The object without the fields that are undefined. */
export function defined<T extends object>(object: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  const kept = Object.entries(object).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as { [Key in keyof T]?: Exclude<T[Key], undefined> };
}

/** The object without the fields that are undefined or null. */
export function present(object: WireObject): WireObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null && value !== undefined));
}

/** Whether a value is an object that holds something. */
export function hasFields(value: unknown): value is WireObject {
  return isObject(value) && Object.keys(value).length > 0;
}

/**
 * The same with every text whole. Where a text was cut inside an emoji, half a pair of surrogates is left: servers refuse
 * it, and with it every request of a conversation that holds it.
 */
export function wellFormed<T>(value: T): T;
export function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/\p{Cs}/gu, '\uFFFD');
  if (Array.isArray(value)) return value.map(wellFormed);
  // A date, say, is left to JSON.
  if (!isObject(value) || typeof value.toJSON === 'function') return value;
  return Object.fromEntries(Object.entries(value).map((entry) => entry.map(wellFormed)));
}
