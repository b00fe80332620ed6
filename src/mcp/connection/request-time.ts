import { onAbort } from '../../internal/stop.js';
import { Deadline, type TimeLimits } from '../transport/pausable-clock.js';

/** The time limits and the abort signal of one request. */
export interface RequestTime extends TimeLimits {
  readonly signal: AbortSignal | undefined;
}

/** Runs a request within its time limits. Rejects with a TimeoutExceededError, or with the reason of the caller's signal. */
export async function inRequestTime<T>(time: RequestTime, work: (scope: RequestScope) => Promise<T>): Promise<T> {
  const scope = new RequestScope(time);
  try {
    return await work(scope);
  } catch (error) {
    throw scope.aborted ? scope.cause : error;
  } finally {
    scope.end();
  }
}

/**
 * The time limits and the abort signal of one request. The signal fires with the caller's signal and after a time limit.
 * It has only the members of AbortSignal that the SDK uses, and holds one listener. Each call needs such a signal, and a
 * real AbortSignal takes a tenth of the time of a call.
 */
export class RequestScope {
  aborted = false;
  /** The SDK sends this text to the server, so it says nothing about the host. */
  readonly reason = 'The client no longer waits for the answer.';
  /** The error of the time limit, or the reason of the caller's signal. */
  cause: unknown = undefined;
  readonly deadline: Deadline;
  private readonly release: () => void;
  private listener: (() => void) | undefined = undefined;

  constructor(time: RequestTime) {
    const { signal: outer } = time;
    this.deadline = new Deadline(time, (error) => this.abort(error));
    this.release = onAbort(outer, () => this.abort(outer?.reason));
    if (outer?.aborted) this.abort(outer.reason);
  }

  readonly signal = this as unknown as AbortSignal;

  addEventListener(_type: 'abort', listener: () => void): void {
    this.listener = listener;
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.cause;
  }

  end(): void {
    this.deadline.clear();
    this.release();
  }

  private abort(reason: unknown): void {
    this.aborted = true;
    this.cause = reason;
    this.listener?.();
  }
}

/**
 * Settles like `work`, or rejects as soon as the signal fires. The listener stays on the signal, so the signal must not
 * outlive `work`.
 */
export function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject);
  });
}

/**
 * Runs `work` with a new signal that also fires with `outer`. Removes its listener from `outer` afterwards. If the new
 * signal has fired, a failure of `work` is replaced by the reason of that signal.
 */
export async function withOwnSignal<T>(
  outer: AbortSignal,
  work: (signal: AbortSignal, controller: AbortController) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const { signal } = controller;
  const abort = () => controller.abort(outer.reason);
  const release = onAbort(outer, abort);
  if (outer.aborted) abort();
  try {
    return await work(signal, controller);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    release();
  }
}

/** Runs `work` within time limits, with a signal of its own. Rejects with the error of the time limit as soon as it is over. */
export function withDeadline<T>(
  { signal: outer = new AbortController().signal, ...limits }: RequestTime,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return withOwnSignal(outer, async (signal, controller) => {
    const deadline = new Deadline(limits, (late) => controller.abort(late));
    try {
      return await untilAborted(signal, work(signal));
    } finally {
      deadline.clear();
    }
  });
}
