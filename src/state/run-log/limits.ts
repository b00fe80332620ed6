import { whole } from '../../internal/options/rules.js';
import type { OptionTable } from '../../internal/options/validate.js';
import { wholeMs } from '../time-rules.js';

/** Limits of the log that stores the events of a run. */
export interface RunLogLimits {
  /**
   * The largest size of one log in bytes of JSON. Above it, the oldest events are deleted, but never the newest one.
   * Default: 8 MiB.
   */
  readonly maxBytes?: number | undefined;
  /** Milliseconds until a log is deleted, counted from its last append or its close. Default: 1 hour. */
  readonly ttlMs?: number | undefined;
}

export const runLogLimitRules = { maxBytes: whole(1), ttlMs: wholeMs() } satisfies OptionTable<RunLogLimits>;

/** Fills in the defaults of the limits. */
export function resolveRunLogLimits({ maxBytes = 8 * 1024 * 1024, ttlMs = 60 * 60 * 1000 }: RunLogLimits) {
  return { maxBytes, ttlMs };
}
