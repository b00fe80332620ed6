import { TimeoutExceededError } from '../errors.js';
import { Deadline, type Hold } from './deadline.js';

/** How long one request may take. */
export interface RequestTime {
  readonly what: string;
  readonly callMs: number;
  readonly totalMs: number;
  readonly hold: Hold;
  readonly signal: AbortSignal | undefined;
  /** What is under way: whoever closes the connection ends it. */
  readonly open: Set<AbortController>;
}

/** What a request is done with. */
export interface RequestScope {
  /** Fires with the caller's signal and when the time is up. */
  readonly signal: AbortSignal;
  /** There was a sign of life. */
  readonly touch: () => void;
}

/** Does a request in its time. Rejects with the caller's reason or a TimeoutExceededError where it is over. */
export async function inRequestTime<T>(time: RequestTime, work: (scope: RequestScope) => Promise<T>): Promise<T> {
  const { what, callMs, totalMs, hold, signal: outer, open } = time;
  return withOwnSignal(outer, async (signal, controller) => {
    const limit = (ms: number) => new Deadline(ms, () => controller.abort(new TimeoutExceededError(what, ms)), hold);
    const total = limit(totalMs);
    const idle = callMs < totalMs ? limit(callMs) : undefined;
    open.add(controller);
    try {
      return await work({ signal, touch: () => idle?.restart() });
    } finally {
      open.delete(controller);
      total.clear();
      idle?.clear();
    }
  });
}

/**
 * The same, where the work itself keeps `callMs`, as the SDK can: the whole time counts from the first sign of progress
 * on, since without one it is never the shorter.
 */
export async function inProgressTime<T>(
  { what, totalMs, hold: { clock }, signal: outer }: Omit<RequestTime, 'open'>,
  work: (scope: RequestScope) => Promise<T>,
): Promise<T> {
  const start = clock.now();
  let timer: unknown;
  return withOwnSignal(outer, async (signal, controller) => {
    const expire = () => controller.abort(new TimeoutExceededError(what, totalMs));
    const touch = () => {
      timer ??= clock.setTimeout(expire, Math.max(0, start + totalMs - clock.now()));
    };
    try {
      return await work({ signal, touch });
    } finally {
      clock.clearTimeout(timer);
    }
  });
}

/** What the SDK says where its own limit of time is up; undefined for anything else. */
export function sdkTimeout(what: string, error: unknown): TimeoutExceededError | undefined {
  const { code, data } = (error ?? {}) as { code?: unknown; data?: { timeout?: unknown } };
  const ms = data?.timeout;
  return code === -32_001 && typeof ms === 'number' ? new TimeoutExceededError(what, ms) : undefined;
}

/** The outcome of the work, or a rejection as soon as the signal fires. The signal is one that dies with the work. */
export function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject);
  });
}

/**
 * Does the work with a signal of its own, which fires with another one and leaves no listener on it. Where it has fired,
 * its reason is what the failed work rejects with.
 */
export async function withOwnSignal<T>(
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal, controller: AbortController) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const { signal } = controller;
  const onAbort = () => controller.abort(outer?.reason);
  outer?.addEventListener('abort', onAbort, { once: true });
  if (outer?.aborted) onAbort();
  try {
    return await work(signal, controller);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    outer?.removeEventListener('abort', onAbort);
  }
}
