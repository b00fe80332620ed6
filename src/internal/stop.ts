import { type Awaitable, createDeferred } from './promise.js';

/**
 * One request to stop, cheaper than an AbortController: a signal is made only for whoever reads it. What follows a
 * signal of somebody else's lets go of it with `release`.
 */
export class Stop {
  stopped = false;
  reason: unknown = undefined;
  private controller: AbortController | undefined = undefined;
  private readonly listeners: Set<() => void> = new Set();
  private readonly releases: (() => void)[] = [];

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.stopped) this.controller.abort(this.reason);
    }
    return this.controller.signal;
  }

  /** Only the first call counts. */
  stop(reason: unknown): void {
    if (this.stopped) return;
    this.stopped = true;
    this.reason = reason;
    this.controller?.abort(reason);
    for (const listener of [...this.listeners]) listener();
    this.listeners.clear();
  }

  /** Calls `listener` once when it stops, at once where it has. The function that it returns takes it off. */
  onStop(listener: () => void): () => void {
    if (this.stopped) {
      listener();
      return () => {};
    }
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Stops when `signal` aborts, or does what `end` does, with its reason. */
  follow(signal: AbortSignal | undefined, end = (reason: unknown) => this.stop(reason)): void {
    if (!signal) return;
    const onAbort = () => end(signal.reason);
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    this.releases.push(() => signal.removeEventListener('abort', onAbort));
  }

  /** As `follow`. */
  followStop(other: Stop, end = (reason: unknown) => this.stop(reason)): void {
    this.releases.push(other.onStop(() => end(other.reason)));
  }

  /** Lets go of every signal that it follows, and calls what `whenReleased` was given. */
  release(): void {
    for (const release of this.releases.splice(0)) release();
  }

  /** Has `callback` called by `release`. */
  whenReleased(callback: () => void): void {
    this.releases.push(callback);
  }

  /**
   * The promise's outcome, or a rejection with the reason as soon as it stops: then `giveUp` is called. A late rejection
   * goes nowhere.
   */
  race<T>(value: Awaitable<T>, giveUp?: () => void): Promise<T> {
    const { promise: first, resolve, reject } = createDeferred<T>();
    const off = this.onStop(() => {
      giveUp?.();
      reject(this.reason);
    });
    Promise.resolve(value).then(
      (settled) => {
        off();
        resolve(settled);
      },
      (error) => {
        off();
        reject(error);
      },
    );
    return first;
  }
}
