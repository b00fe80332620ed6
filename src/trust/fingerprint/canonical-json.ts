import { ItemUnboundError } from '../error.js';

/** A value with exactly one canonical form. Undefined members are left out. */
export type CanonicalValue =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly CanonicalValue[]
  | { readonly [key: string]: CanonicalValue };

/**
 * Returns JSON without white space and with sorted keys, so that equal values give equal strings and different values
 * never do.
 *
 * Throws an `ItemUnboundError` for a value that JSON cannot represent, such as a Map or NaN.
 */
export function canonicalJson(value: CanonicalValue): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (!isJson(value)) {
    const type = Object.prototype.toString.call(value).slice(8, -1);
    throw new ItemUnboundError('invalid', `The item cannot be approved: its definition must be JSON, got ${type}.`);
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value as Record<string, CanonicalValue>)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}

/** True for a JSON primitive or a plain object. Looks at one level only. */
function isJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return !['bigint', 'function', 'symbol'].includes(typeof value);
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
