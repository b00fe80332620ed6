import { TimeoutExceededError } from '../../errors.js';
import type { Clock } from '../../internal/clock.js';
import { Deadline, type PausableClock } from '../transport/pausable-clock.js';

/** How long one request may take. */
export interface RequestTime {
  readonly what: string;
  readonly callMs: number;
  readonly totalMs: number;
  readonly hold: PausableClock;
  readonly signal: AbortSignal | undefined;
}

/** What a request is done with. */
export interface RequestScope {
  /** Fires with the caller's signal and when the time is up. */
  readonly signal: AbortSignal;
  /** There was a sign of life. */
  readonly touch: () => void;
  /** The time that the SDK keeps: until there is an answer or progress. Undefined if it keeps none. */
  readonly callMs?: number | undefined;
}

/** Does a request in its time. Rejects with the caller's reason or a TimeoutExceededError where it is over. */
export async function inRequestTime<T>(time: RequestTime, work: (scope: RequestScope) => Promise<T>): Promise<T> {
  const { what, callMs, totalMs, hold, signal: outer } = time;
  return withOwnSignal(outer, async (signal, controller) => {
    const limit = (ms: number) => new Deadline(ms, () => controller.abort(new TimeoutExceededError(what, ms)), hold);
    const total = limit(totalMs);
    const idle = callMs < totalMs ? limit(callMs) : undefined;
    try {
      return await work({ signal, touch: () => idle?.restart() });
    } finally {
      total.clear();
      idle?.clear();
    }
  });
}

/**
 * The time and the end of a request of which the SDK keeps `callMs`: the whole time counts from the first sign of progress
 * on, since without one it is never the shorter. What the SDK uses of a signal, and no more: there is one for each call,
 * and a real one costs a tenth of the call.
 */
export class PlainScope implements RequestScope {
  aborted = false;
  reason: unknown = undefined;
  private readonly startedAt: number;
  private timer: unknown = undefined;
  private listener: (() => void) | undefined = undefined;

  constructor(
    private readonly time: Pick<RequestTime, 'what' | 'totalMs' | 'signal'> & { readonly clock: Clock },
    readonly callMs: number,
  ) {
    this.startedAt = time.clock.now();
    time.signal?.addEventListener('abort', this.onAbort, { once: true });
    if (time.signal?.aborted) this.onAbort();
  }

  get signal(): AbortSignal {
    return this as unknown as AbortSignal;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.listener = listener;
  }

  /** Does the request. Rejects with the reason if it was aborted, and leaves nothing on the caller's signal. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.aborted ? this.reason : error;
    } finally {
      this.time.clock.clearTimeout(this.timer);
      this.time.signal?.removeEventListener('abort', this.onAbort);
    }
  }

  /** The SDK looks before it asks. */
  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  readonly touch = (): void => {
    const { clock, totalMs, what } = this.time;
    const expire = () => this.abort(new TimeoutExceededError(what, totalMs));
    this.timer ??= clock.setTimeout(expire, Math.max(0, this.startedAt + totalMs - clock.now()));
  };

  private readonly onAbort = (): void => this.abort(this.time.signal?.reason);

  private abort(reason: unknown): void {
    this.aborted = true;
    this.reason = reason;
    this.listener?.();
  }
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
