import type { Awaitable } from './promise.js';

/**
 * Tells work to stop, as an AbortController does, but cheaper: it creates its abort signal only on first access. Call
 * `release` to remove the listeners on other signals.
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

  /** Stops with a reason. Later calls have no effect. */
  stop(reason: unknown): void {
    if (this.stopped) return;
    this.stopped = true;
    this.reason = reason;
    this.controller?.abort(reason);
    for (const listener of [...this.listeners]) listener();
    this.listeners.clear();
  }

  /** Calls `listener` once on stop, or at once if already stopped. The returned function removes the listener. */
  onStop(listener: () => void): () => void {
    if (this.stopped) {
      listener();
      return () => {};
    }
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Stops when `signal` aborts, with its reason. If `end` is given, calls it with the reason instead. */
  follow(signal: AbortSignal | undefined, end = (reason: unknown) => this.stop(reason)): void {
    if (!signal) return;
    if (signal.aborted) return end(signal.reason);
    this.releases.push(onAbort(signal, () => end(signal.reason)));
  }

  /** Stops when another Stop does, with its reason. If `end` is given, calls it with the reason and does not stop. */
  followStop(other: Stop, end = (reason: unknown) => this.stop(reason)): void {
    this.releases.push(other.onStop(() => end(other.reason)));
  }

  /** Stops following other signals, and calls the callbacks of `whenReleased`. */
  release(): void {
    for (const release of this.releases.splice(0)) release();
  }

  /** Registers a callback for `release` to call. */
  whenReleased(callback: () => void): void {
    this.releases.push(callback);
  }

  /**
   * Settles as the promise does. On stop, calls `giveUp` and rejects with the reason; a later rejection of the promise
   * is ignored.
   */
  race<T>(value: Awaitable<T>, giveUp?: () => void): Promise<T> {
    return new Promise((resolve, reject) => {
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
    });
  }
}

/** Settles as the promise does, or rejects with the reason of the signal as soon as it aborts. */
export async function untilAborted<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  const stop = new Stop();
  stop.follow(signal);
  try {
    return await stop.race(work);
  } finally {
    stop.release();
  }
}

/** The callbacks of one signal, and the listener that calls them. */
interface Shared {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

const sharedListeners = new WeakMap<AbortSignal, Shared>();

/**
 * Calls `callback` when the signal aborts. Returns a function that removes the callback. If the signal has already
 * aborted, `callback` is never called. All callbacks of a signal share one listener, because Node warns of a possible leak
 * above ten listeners.
 */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal === undefined || signal.aborted) return () => {};
  const { callbacks, listener } = sharedListeners.get(signal) ?? listen(signal);
  // A new function for each call, so that one callback can be added twice.
  const entry = () => callback();
  callbacks.add(entry);
  return () => {
    if (!callbacks.delete(entry) || callbacks.size > 0) return;
    signal.removeEventListener('abort', listener);
    sharedListeners.delete(signal);
  };
}

function listen(signal: AbortSignal): Shared {
  const callbacks = new Set<() => void>();
  const listener = () => {
    for (const callback of [...callbacks]) if (callbacks.has(callback)) callback();
  };
  const shared = { callbacks, listener };
  sharedListeners.set(signal, shared);
  signal.addEventListener('abort', listener, { once: true });
  return shared;
}
