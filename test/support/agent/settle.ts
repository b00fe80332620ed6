/** Stands for a promise that did not settle in time. */
export const LATE = 'did not settle in time';

/** What a promise rejects with. Throws where it resolves, and where it does neither within two seconds. */
export async function rejectionOf(promise: PromiseLike<unknown>): Promise<unknown> {
  const outcome = await within(
    promise.then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    ),
  );
  if (outcome === LATE) throw new Error('The promise did not settle within two seconds.');
  if ('error' in outcome) return outcome.error;
  throw new Error(`The promise resolved with ${JSON.stringify(outcome.value)}.`);
}

/** The outcome of a promise, or LATE. */
export function within<T>(promise: PromiseLike<T>, ms = 2_000): Promise<T | typeof LATE> {
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

/** Lets timers, and everything that is queued, have their turn. */
export function pause(ms = 0): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Waits until something is so; throws where it is not within two seconds. */
export async function until(condition: () => boolean): Promise<void> {
  const end = Date.now() + 2_000;
  while (!condition()) {
    if (Date.now() > end) throw new Error('It did not come about within two seconds.');
    await pause(1);
  }
}

/** A promise that is settled from outside, and says whether anybody waits for it. */
export interface Gate {
  open(): void;
  /** Resolves when the gate is open. */
  pass(): Promise<void>;
  /** How many have come to the gate. */
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

/** Collects what goes unhandled while `act` runs and a little later. */
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
