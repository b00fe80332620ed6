import { isObject, type JsonValue } from '../internal/json.js';

/** A JSON object. */
export type JsonObject = { readonly [key: string]: JsonValue };

const DROPPED: readonly string[] = ['__proto__', 'constructor', 'prototype'];

/** A copy without the keys that would reach a prototype where somebody merges it. */
export function withoutPrototypeKeys<T extends JsonValue>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutPrototypeKeys) as unknown as T;
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => !DROPPED.includes(key));
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutPrototypeKeys(inner as JsonValue)])) as T;
}
