import { OptionInvalidError } from '../errors.js';
import type { StatePolicy } from './state-store.js';

const HOUR_MS = 3_600_000;

const defaults: StatePolicy = {
  ttlMs: HOUR_MS,
  sessionTtlMs: 24 * HOUR_MS,
  extensionBytes: 10_000_000,
  sessionBytes: 64 * 1024 * 1024,
};

/** What may be said of a StatePolicy; the rest is the default. */
export type StatePolicyOptions = { readonly [Name in keyof StatePolicy]?: StatePolicy[Name] | undefined };

/** The policy with its defaults: a value lives 1 hour, a session 24, an extension has 10 MB in a session, and all together 64 MiB. */
export function resolveStatePolicy(options: StatePolicyOptions = {}): StatePolicy {
  const policy: { -readonly [Name in keyof StatePolicy]: number } = { ...defaults };
  for (const name of Object.keys(defaults) as (keyof StatePolicy)[]) {
    const value = options[name] ?? defaults[name];
    if (!Number.isSafeInteger(value) || value <= 0) {
      throw new OptionInvalidError(name, `${String(value)} is not a whole number above 0.`);
    }
    policy[name] = value;
  }
  return policy;
}

/** Throws an OptionInvalidError for what no store can hold a session to: a time below 1, a size below 0, or no number. */
export function checkStatePolicy(policy: StatePolicy): void {
  for (const name of Object.keys(defaults) as (keyof StatePolicy)[]) {
    const least = name === 'ttlMs' || name === 'sessionTtlMs' ? 1 : 0;
    if (typeof policy[name] === 'number' && policy[name] >= least) continue;
    throw new OptionInvalidError(name, `${String(policy[name])} is no number from ${least} on.`);
  }
}
