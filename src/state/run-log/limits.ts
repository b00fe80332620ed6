import { whole } from '../../internal/options/rules.js';
import type { OptionTable } from '../../internal/options/validate.js';
import { wholeMs } from '../time-rules.js';

/** Limits of the size and the lifetime of a run's log. */
export interface RunLogLimits {
  /** The largest size of one log in bytes of JSON. The newest event is always kept. Default: 8 MiB. */
  readonly maxBytes?: number | undefined;
  /** Milliseconds after the last append or the close until a log expires and is deleted. Default: 1 hour. */
  readonly ttlMs?: number | undefined;
}

export const runLogLimitRules = { maxBytes: whole(1), ttlMs: wholeMs() } satisfies OptionTable<RunLogLimits>;

/** Fills in the defaults of the limits. */
export function resolveRunLogLimits({ maxBytes = 8 * 1024 * 1024, ttlMs = 60 * 60 * 1000 }: RunLogLimits) {
  return { maxBytes, ttlMs };
}
