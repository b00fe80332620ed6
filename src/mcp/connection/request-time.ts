import { Deadline, type TimeLimits } from '../transport/pausable-clock.js';

/** How long one request may take. */
export interface RequestTime extends TimeLimits {
  readonly signal: AbortSignal | undefined;
}

/** Does a request in its time. Rejects with the caller's reason or a TimeoutExceededError when it is over. */
export async function inRequestTime<T>(time: RequestTime, work: (scope: RequestScope) => Promise<T>): Promise<T> {
  const scope = new RequestScope(time);
  try {
    return await work(scope);
  } catch (error) {
    throw scope.aborted ? scope.reason : error;
  } finally {
    scope.end();
  }
}

/**
 * The time and the signal of one request, which fires with the caller's signal and when the time is up. It has the parts of
 * a signal that the SDK uses, for one listener: there is one for each call, and a real one costs a tenth of the call.
 */
export class RequestScope {
  aborted = false;
  reason: unknown = undefined;
  private readonly outer: AbortSignal | undefined;
  private readonly deadline: Deadline;
  private listener: (() => void) | undefined = undefined;

  constructor(time: RequestTime) {
    this.outer = time.signal;
    this.deadline = new Deadline(time, (error) => this.abort(error));
    this.outer?.addEventListener('abort', this.onAbort, { once: true });
    if (this.outer?.aborted) this.onAbort();
  }

  get signal(): AbortSignal {
    return this as unknown as AbortSignal;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.listener = listener;
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  /** There was a sign of life. */
  touch(): void {
    this.deadline.touch();
  }

  end(): void {
    this.deadline.clear();
    this.outer?.removeEventListener('abort', this.onAbort);
  }

  private readonly onAbort = (): void => this.abort(this.outer?.reason);

  private abort(reason: unknown): void {
    this.aborted = true;
    this.reason = reason;
    this.listener?.();
  }
}

/** The outcome of the work, or a rejection as soon as the signal fires. The signal must not outlive the work. */
export function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject);
  });
}

/**
 * Does the work with a signal of its own, which fires with another one and leaves no listener on it. If it has fired, failed
 * work rejects with its reason.
 */
export async function withOwnSignal<T>(
  outer: AbortSignal,
  work: (signal: AbortSignal, controller: AbortController) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const { signal } = controller;
  const onAbort = () => controller.abort(outer.reason);
  outer.addEventListener('abort', onAbort, { once: true });
  if (outer.aborted) onAbort();
  try {
    return await work(signal, controller);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    outer.removeEventListener('abort', onAbort);
  }
}
