import { HookResultInvalidError, TimeoutExceededError } from '../errors.js';
import { type Clock, withinTime } from '../internal/clock.js';
import type { Logger } from '../internal/logger.js';
import { type Awaitable, isPromise } from '../internal/promise.js';
import { Stop } from '../internal/stop.js';
import type { SessionInfo } from '../tools/tool.js';
import type { HookAction } from './hook-action.js';
import type { LifecycleHost } from './lifecycle.js';
import type { RegisteredLifecycle } from './registered-lifecycle.js';
import { LifecycleError } from './run-failure.js';

/** A call of a hook that is not part of a run, such as `onInit`. */
export interface HostHookCall {
  readonly point: 'onInit' | 'onSessionStart' | 'onSessionEnd' | 'onShutdown';
  /** The argument of the hook. */
  readonly input?: LifecycleHost | SessionInfo;
  /** Stopped when the agent is closed. The hook then gets a short time to settle. */
  readonly stop?: Stop;
  /** Called with the promise of a hook that did not settle in time. */
  readonly onAbandon?: (pending: Promise<void>) => void;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** The default time limits in milliseconds, if the lifecycle has no `timeoutMs`. */
const LIMITS = { onInit: 30_000, onSessionStart: 30_000, onSessionEnd: undefined, onShutdown: 5_000 } as const;
/** Milliseconds that a pending hook has to settle after the agent was closed. */
const GRACE_MS = 100;

/**
 * Calls a hook that is not part of a run. If the hook fails, throws a LifecycleError, or logs the error with
 * `onFailure: 'continue'`. If the agent is closed meanwhile, throws an AgentClosedError.
 */
export async function callHostHook(entry: RegisteredLifecycle, hook: HostHookCall): Promise<void> {
  if (entry.status.inert) return;
  const { point, input, stop, logger, clock, onAbandon } = hook;
  let pending: Promise<void> | undefined;
  try {
    const returned = (entry.lifecycle[point] as ((input: unknown) => Awaitable<void>) | undefined)?.(input);
    if (!isPromise(returned)) return refuseAction(point, returned);
    pending = Promise.resolve(returned).finally(() => {
      pending = undefined;
    });
    const settled = stop === undefined ? pending : untilClosed(pending, stop, clock);
    const limit = entry.timeoutMs ?? LIMITS[point];
    const what = `${point} of "${entry.name}"`;
    const inTime = limit === undefined ? settled : withinTime(settled, new TimeoutExceededError(what, limit), clock);
    refuseAction(point, await inTime);
  } catch (cause) {
    if (pending !== undefined) onAbandon?.(pending);
    if (stop?.stopped && cause === stop.reason) throw cause;
    const error = new LifecycleError(entry.name, point, cause);
    if (entry.onFailure !== 'continue') throw error;
    logger.error(error.message, cause);
  }
}

/** Actions from which the author of a hook expects an effect. */
const REFUSALS: readonly unknown[] = ['reject', 'respond', 'suspend', 'modify'] satisfies HookAction['type'][];

/**
 * Throws a HookResultInvalidError if `onInit` or `onSessionStart` returned an action that has no effect there. Ignores
 * other values.
 */
function refuseAction(point: HostHookCall['point'], returned: unknown): void {
  if (point === 'onSessionEnd' || point === 'onShutdown' || !REFUSALS.includes(Object(returned).type)) return;
  throw new HookResultInvalidError(`${point} must return nothing; to refuse, throw an error`, returned);
}

/** Settles as `pending` does, or rejects with the reason of `stop` after the grace period. */
export function untilClosed(pending: Promise<void>, stop: Stop, clock: Clock): Promise<void> {
  const grace = new Stop();
  grace.followStop(stop, (reason) => {
    const timer = clock.setTimeout(() => grace.stop(reason), GRACE_MS);
    grace.whenReleased(() => clock.clearTimeout(timer));
  });
  return grace.race(pending).finally(() => grace.release());
}
