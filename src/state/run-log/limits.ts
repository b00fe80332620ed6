import { whole } from '../../internal/options/rules.js';
import type { OptionTable } from '../../internal/options/validate.js';
import { wholeMs } from '../time-rules.js';

/** How much a log of a run keeps, and for how long. */
export interface RunLogLimits {
  /** The largest size of one log in bytes of JSON. The newest event stays, whatever its size. Default: 8 MiB. */
  readonly maxBytes?: number | undefined;
  /** Milliseconds until a log expires and is deleted, after its last append or its close. Default: 1 hour. */
  readonly ttlMs?: number | undefined;
}

export const runLogLimitRules = { maxBytes: whole(1), ttlMs: wholeMs() } satisfies OptionTable<RunLogLimits>;

/** Fills in the defaults. */
export function resolveRunLogLimits({ maxBytes = 8 * 1024 * 1024, ttlMs = 60 * 60 * 1000 }: RunLogLimits) {
  return { maxBytes, ttlMs };
}
