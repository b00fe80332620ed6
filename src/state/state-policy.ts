import { having, numberRule, required, whole } from '../internal/options/rules.js';
import { type OptionTable, validateOption, validateOptions } from '../internal/options/validate.js';
import { withDefaults } from '../internal/options/with-defaults.js';
import type { StatePolicy } from './state-store.js';

const HOUR_MS = 3_600_000;

const defaults: StatePolicy = {
  ttlMs: HOUR_MS,
  sessionTtlMs: 24 * HOUR_MS,
  extensionBytes: 10_000_000,
  sessionBytes: 64 * 1024 * 1024,
};

/** A StatePolicy in which every field is optional. */
export type StatePolicyOptions = { readonly [Name in keyof StatePolicy]?: StatePolicy[Name] | undefined };

const rules = {
  ttlMs: whole(1),
  sessionTtlMs: whole(1),
  extensionBytes: whole(1),
  sessionBytes: whole(1),
} satisfies OptionTable<StatePolicyOptions>;

/**
 * Fills in the defaults of a policy. By default, a value lives 1 hour, and a session 24 hours. One extension may store
 * 10 MB in a session, and all extensions together 64 MiB.
 */
export function resolveStatePolicy(options: StatePolicyOptions = {}): StatePolicy {
  validateOptions(options, rules);
  return withDefaults(defaults, options);
}

const time = required(numberRule('a number of 1 or more', 1));
const size = required(numberRule('a number of 0 or more', 0));
const policyRules = {
  ttlMs: time,
  sessionTtlMs: time,
  extensionBytes: size,
  sessionBytes: size,
} satisfies OptionTable<StatePolicy>;

/** Throws an OptionInvalidError if a field of the policy is missing or invalid. */
export function checkStatePolicy(policy: StatePolicy): void {
  validateOption('policy', policy, required(having('a StatePolicy', policyRules)));
}
