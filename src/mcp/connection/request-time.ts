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
 * It has only the members of AbortSignal that the SDKs use. Each call needs such a signal, and a real AbortSignal takes a
 * tenth of the time of a call.
 */
export class RequestScope {
  aborted = false;
  /** The SDK sends this text to the server, so it says nothing about the host. */
  readonly reason = 'The client no longer waits for the answer.';
  /** The error of the time limit, or the reason of the caller's signal. */
  cause: unknown = undefined;
  readonly deadline: Deadline;
  private readonly release: () => void;
  private readonly listeners = new Set<() => void>();

  constructor(time: RequestTime) {
    const { signal: outer } = time;
    this.deadline = new Deadline(time, (error) => this.abort(error));
    this.release = onAbort(outer, () => this.abort(outer?.reason));
    if (outer?.aborted) this.abort(outer.reason);
  }

  readonly signal = this as unknown as AbortSignal;

  addEventListener(_type: 'abort', listener: () => void): void {
    this.listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.listeners.delete(listener);
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
    for (const listener of this.listeners) listener();
  }
}

/** Settles like `work`, or rejects with the reason of the signal as soon as it fires. */
export async function untilAborted<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  let release = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    release = onAbort(signal, () => reject(signal?.reason));
    if (signal?.aborted) reject(signal.reason);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    release();
  }
}

/** Runs `work` within time limits, with a signal of its own. Rejects with the reason of that signal as soon as it fires. */
export async function withDeadline<T>(time: RequestTime, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { signal: outer } = time;
  const controller = new AbortController();
  const { signal } = controller;
  const release = onAbort(outer, () => controller.abort(outer?.reason));
  if (outer?.aborted) controller.abort(outer.reason);
  const deadline = new Deadline(time, (late) => controller.abort(late));
  try {
    return await untilAborted(signal, work(signal));
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    deadline.clear();
    release();
  }
}
