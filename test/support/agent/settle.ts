/** The outcome of a promise that did not settle in time. */
export const LATE = 'did not settle in time';

/** Returns the rejection reason of a promise. Throws if the promise resolves or does not settle within 20 seconds. */
export async function rejectionOf(promise: PromiseLike<unknown>): Promise<unknown> {
  const outcome = await within(
    promise.then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    ),
    20_000,
  );
  if (outcome === LATE) throw new Error('The promise did not settle within 20 seconds.');
  if ('error' in outcome) return outcome.error;
  throw new Error(`The promise resolved with ${JSON.stringify(outcome.value)}.`);
}

/** Returns the outcome of a promise, or LATE. The default is less than the five seconds that `close()` may wait. */
export function within<T>(promise: PromiseLike<T>, ms = 4_000): Promise<T | typeof LATE> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(LATE), ms);
    promise.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

/** Waits until the due timers and queued callbacks have run. */
export function pause(ms = 0): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Waits until a condition is true. Throws after 20 seconds. */
export async function until(condition: () => boolean): Promise<void> {
  const end = Date.now() + 20_000;
  while (!condition()) {
    if (Date.now() > end) throw new Error('It did not come about within 20 seconds.');
    await pause(1);
  }
}

/** A promise that a test resolves, with a count of its waiters. */
export interface Gate {
  open(): void;
  /** Waits until the gate is open. */
  pass(): Promise<void>;
  /** The number of calls that have reached the gate. */
  readonly arrived: number;
}

export function gate(): Gate {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const made = {
    open,
    arrived: 0,
    pass() {
      made.arrived += 1;
      return opened;
    },
  };
  return made;
}

/** Returns the unhandled rejections during `act` and shortly after. */
export async function unhandledDuring(act: () => Promise<unknown>): Promise<readonly unknown[]> {
  const seen: unknown[] = [];
  const listener = (reason: unknown) => void seen.push(reason);
  process.on('unhandledRejection', listener);
  try {
    await act();
    await pause(10);
  } finally {
    process.off('unhandledRejection', listener);
  }
  return seen;
}

/** Rejects when the signal aborts, and never resolves. */
export function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
