import { MAX_SCOPE_KEYS } from '../state/state-key.js';
import type { StatePolicy } from '../state/state-store.js';

/**
 * Returns the limits of a state policy as database arguments: maximum bytes of an extension, maximum bytes of the
 * session, maximum keys of an extension.
 */
export function limitsOf({ extensionBytes, sessionBytes }: StatePolicy): string[] {
  return [extensionBytes, sessionBytes, MAX_SCOPE_KEYS].map(toWhole);
}

/**
 * Returns the lifetimes of a state policy as database arguments, in milliseconds: first of a value, then of its
 * session.
 */
export function timesOf({ ttlMs, sessionTtlMs }: StatePolicy): string[] {
  return [ttlMs, sessionTtlMs].map(toWhole);
}

/**
 * Rounds a number down and formats it. Limits it to 2^52, so that PostgreSQL and Lua can add the current time without a
 * rounding error.
 */
export function toWhole(number: number): string {
  return `${Math.floor(Math.min(number, 2 ** 52))}`;
}
