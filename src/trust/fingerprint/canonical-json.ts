import { ItemUnboundError } from '../error.js';

/** A value that has one canonical text. What is undefined is left out. */
export type CanonicalValue =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly CanonicalValue[]
  | { readonly [key: string]: CanonicalValue };

/**
 * JSON without white space, keys sorted by their UTF-16 units: equal values have equal texts, and no others have. What
 * JSON cannot tell apart, such as a Map or NaN, is an `ItemUnboundError`.
 */
export function canonicalJson(value: CanonicalValue): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (!isJson(value)) throw new ItemUnboundError('invalid', `It cannot be approved: ${typeOf(value)} is no JSON.`);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value as Record<string, CanonicalValue>)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}

/** Of an object, whether it is a plain one. */
function isJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return !['bigint', 'function', 'symbol'].includes(typeof value);
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function typeOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}
