import type { Clock } from '../../internal/clock.js';
import { Stop } from '../../internal/stop.js';
import { RunTimeoutError } from '../run-result.js';

/**
 * Starts the time of `timeouts.runMs`. The returned Stop stops at the limit, with a RunTimeoutError. Call `release` to
 * cancel the timer.
 */
export function startLimit(runMs: number | undefined, clock: Clock): Stop | undefined {
  if (runMs === undefined) return undefined;
  const limit = new Stop();
  const handle = clock.setTimeout(() => limit.stop(new RunTimeoutError(runMs)), runMs);
  limit.whenReleased(() => clock.clearTimeout(handle));
  return limit;
}
