import { TimeoutExceededError } from '../errors.js';
import { type Clock, withinTime } from '../internal/clock.js';
import type { Logger } from '../internal/logger.js';
import type { Awaitable } from '../internal/promise.js';
import type { Entry } from './entry.js';
import { LifecycleError } from './run-failure.js';

/** What a hook outside of any run is called with. */
export interface HostHookCall {
  readonly point: 'onInit' | 'onSessionStart' | 'onSessionEnd' | 'onShutdown';
  readonly call: (entry: Entry) => Awaitable<void> | undefined;
  /** The time for a part that has none of its own. */
  readonly timeoutMs?: number;
  readonly logger: Logger;
  readonly clock: Clock;
}

/**
 * Calls one hook outside of any run. A failure throws a LifecycleError, or is logged where the part's `onFailure` is
 * `continue`.
 */
export async function callHostHook(
  entry: Entry,
  { point, call, timeoutMs, logger, clock }: HostHookCall,
): Promise<void> {
  if (entry.status.inert) return;
  const limit = entry.timeoutMs ?? timeoutMs;
  try {
    const returned = call(entry);
    if (limit === undefined) return await returned;
    await withinTime(returned, new TimeoutExceededError(`${point} of "${entry.name}"`, limit), clock);
  } catch (cause) {
    const error = new LifecycleError(entry.name, point, cause);
    if (entry.onFailure !== 'continue') throw error;
    logger.error(error.message, cause);
  }
}
