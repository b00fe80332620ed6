/** A value that JSON can represent. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** A JSON object. */
export type JsonObject = { readonly [key: string]: JsonValue };

/** A JSON Schema document. The version is draft 2020-12 unless `$schema` says otherwise. */
export type JsonSchema = { readonly [key: string]: unknown };

/** True for an object other than an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True for an array of strings. */
export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
}

/**
 * `JSON.stringify` with U+FFFD for each lone surrogate. Used for all JSON that leaves the process.
 *
 * A string cut inside an emoji ends in a lone surrogate, which databases, servers and other parsers refuse.
 */
export function toJson(value: unknown, replacer?: (key: string, value: unknown) => unknown): string {
  const json = JSON.stringify(value, replacer);
  if (!json?.includes('\\ud')) return json;
  return json.replace(/\\(?:ud[\da-f]{3}|.)/g, (found) => (found.startsWith('\\ud') ? '\uFFFD' : found));
}
