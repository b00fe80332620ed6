import { MAX_SCOPE_KEYS } from '../state/state-key.js';
import type { StatePolicy } from '../state/state-store.js';

/** Returns the limits of a policy as arguments: the bytes of an extension and of the session, and the keys of an extension. */
export function limitsOf({ extensionBytes, sessionBytes }: StatePolicy): string[] {
  return [extensionBytes, sessionBytes, MAX_SCOPE_KEYS].map(toWhole);
}

/** Returns the times of a policy as arguments: the lifetimes of a value and of its session. */
export function timesOf({ ttlMs, sessionTtlMs }: StatePolicy): string[] {
  return [ttlMs, sessionTtlMs].map(toWhole);
}

/** Formats an integer. Limits it, so that PostgreSQL and Lua can add the current time exactly. */
export function toWhole(number: number): string {
  return `${Math.floor(Math.min(number, 2 ** 52))}`;
}
