import { MAX_TIMER_MS } from '../internal/clock.js';
import { whole } from '../internal/options/rules.js';
import type { OptionRule } from '../internal/options/validate.js';

const MAX_LIFETIME_MS = 1000 * 365 * 24 * 60 * 60 * 1000;

/**
 * Returns a rule that accepts whole milliseconds from 1 to `most`, which is the limit of timers if you leave it out.
 */
export function wholeMs(most: number = MAX_TIMER_MS): OptionRule {
  return {
    expected: `a whole number of milliseconds from 1 to ${most}`,
    accepts: (value) => whole(1).accepts(value) && (value as number) <= most,
  };
}

/**
 * Accepts the lifetime of stored data in milliseconds. Allows Infinity, or at most a thousand years, which a database
 * can still add to the current time.
 */
export const lifetimeMs: OptionRule = {
  expected: `${wholeMs(MAX_LIFETIME_MS).expected}, or Infinity`,
  accepts: (value) => value === Number.POSITIVE_INFINITY || wholeMs(MAX_LIFETIME_MS).accepts(value),
};
