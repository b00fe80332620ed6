import type { ModelError } from './run-error.js';

/** The delays between the attempts of a model call. */
export interface RetryDelays {
  /** The delay before the second attempt, in milliseconds. Each further delay is twice as long. */
  readonly initialDelayMs: number;
  /** The longest delay, in milliseconds. */
  readonly maxDelayMs: number;
  /** Returns a random number from 0 to 1 for the jitter. At 0, a delay is halved. */
  readonly random: () => number;
}

/** The maximum number of doublings, because more would overflow. The delay has reached `maxDelayMs` long before. */
const MAX_DOUBLINGS = 100;

/**
 * Returns the delay after a failed attempt, in milliseconds. Attempts count from 1. Returns undefined if the provider asks
 * for a longer delay than `maxDelayMs`.
 */
export function retryDelayMs(
  { retryAfterMs }: Pick<ModelError, 'retryAfterMs'>,
  attempt: number,
  { initialDelayMs, maxDelayMs, random }: RetryDelays,
): number | undefined {
  if (retryAfterMs !== undefined && retryAfterMs >= 0) return retryAfterMs <= maxDelayMs ? retryAfterMs : undefined;
  const doubled = initialDelayMs * 2 ** Math.min(attempt - 1, MAX_DOUBLINGS);
  return Math.min(doubled, maxDelayMs) * (0.5 + random() / 2);
}
