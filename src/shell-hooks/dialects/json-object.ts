import type { JsonValue } from '../../internal/json.js';

/** A JSON object. */
export type JsonObject = { readonly [key: string]: JsonValue };

const DROPPED: readonly string[] = ['__proto__', 'constructor', 'prototype'];

/** How deep JSON may be that is walked through and written again. */
export const MOST_LEVELS = 1_000;

/**
 * A copy without the keys that would reach a prototype where somebody merges it. Null stands for what is deeper than can
 * be walked through, and `onCut` is called.
 */
export function withoutPrototypeKeys<T extends JsonValue>(value: T, onCut?: () => void, level = 0): T {
  if (typeof value !== 'object' || value === null) return value;
  if (level > MOST_LEVELS) {
    onCut?.();
    return null as T;
  }
  if (Array.isArray(value)) return value.map((item) => withoutPrototypeKeys(item, onCut, level + 1)) as unknown as T;
  const kept = Object.entries(value).filter(([key]) => !DROPPED.includes(key));
  return Object.fromEntries(
    kept.map(([key, inner]) => [key, withoutPrototypeKeys(inner as JsonValue, onCut, level + 1)]),
  ) as T;
}
