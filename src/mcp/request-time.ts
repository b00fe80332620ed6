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
  const { callMs, totalMs, hold, signal: outer } = time;
  const controller = new AbortController();
  const { signal } = controller;
  const expire = (ms: number) => controller.abort(new TimeoutExceededError(time.what, ms));
  const latest = hold.clock.now() + totalMs;
  const idle = new Deadline(Math.min(callMs, totalMs), () => expire(Math.min(callMs, totalMs)), hold);
  const touch = () => (hold.clock.now() < latest ? idle.restart() : expire(totalMs));
  const onAbort = () => controller.abort(outer?.reason);
  outer?.addEventListener('abort', onAbort, { once: true });
  if (outer?.aborted) onAbort();
  time.open.add(controller);
  try {
    return await work({ signal, touch });
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    time.open.delete(controller);
    outer?.removeEventListener('abort', onAbort);
    idle.clear();
  }
}

/** What the SDK says where one of its own limits of time is up; undefined for anything else. */
export function sdkTimeout(what: string, error: unknown): TimeoutExceededError | undefined {
  const { code, data } = (error ?? {}) as { code?: unknown; data?: { timeout?: unknown; maxTotalTimeout?: unknown } };
  const ms = data?.maxTotalTimeout ?? data?.timeout;
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

/** Does the work with a signal of its own, which fires with another one and leaves no listener on it. */
export async function withOwnSignal<T>(signal: AbortSignal, work: (own: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const onAbort = () => controller.abort(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await work(controller.signal);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
