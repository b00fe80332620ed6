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

/** What may be said of a StatePolicy; the rest is the default. */
export type StatePolicyOptions = { readonly [Name in keyof StatePolicy]?: StatePolicy[Name] | undefined };

const rules = {
  ttlMs: whole(1),
  sessionTtlMs: whole(1),
  extensionBytes: whole(1),
  sessionBytes: whole(1),
} satisfies OptionTable<StatePolicyOptions>;

/** The policy with its defaults: a value lives 1 hour, a session 24, an extension has 10 MB in a session, and all together 64 MiB. */
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

/** Throws an OptionInvalidError for what no store can hold a session to. */
export function checkStatePolicy(policy: StatePolicy): void {
  validateOption('policy', policy, required(having('a StatePolicy', policyRules)));
}
