import { TimeoutExceededError } from '../errors.js';
import { type Clock, withinTime } from '../internal/clock.js';
import type { Logger } from '../internal/logger.js';
import type { Awaitable } from '../internal/promise.js';
import type { SessionInfo } from '../tools/tool.js';
import type { LifecycleHost } from './lifecycle.js';
import type { RegisteredLifecycle } from './registered-lifecycle.js';
import { LifecycleError } from './run-failure.js';

/** A call of a hook that is not part of a run. */
export interface HostHookCall {
  readonly point: 'onInit' | 'onSessionStart' | 'onSessionEnd' | 'onShutdown';
  /** The argument of the hook. */
  readonly input?: LifecycleHost | SessionInfo;
  /** The time limit in milliseconds for a lifecycle without `timeoutMs`. */
  readonly timeoutMs?: number;
  readonly logger: Logger;
  readonly clock: Clock;
}

type HostHook = (input: unknown) => Awaitable<void>;

/**
 * Calls a hook that is not part of a run. If the hook fails, throws a LifecycleError; with `onFailure: 'continue'`,
 * logs the error instead.
 */
export async function callHostHook(entry: RegisteredLifecycle, hook: HostHookCall): Promise<void> {
  if (entry.status.inert) return;
  const { point, input, timeoutMs, logger } = hook;
  const limit = entry.timeoutMs ?? timeoutMs;
  try {
    const returned = (entry.lifecycle[point] as HostHook | undefined)?.(input);
    if (limit === undefined) return await returned;
    await withinTime(returned, new TimeoutExceededError(`${point} of "${entry.name}"`, limit), hook.clock);
  } catch (cause) {
    const error = new LifecycleError(entry.name, point, cause);
    if (entry.onFailure !== 'continue') throw error;
    logger.error(error.message, cause);
  }
}
