import type { Clock } from 'keelson';

/** A clock whose time only changes by `advance`. */
export interface ManualClock extends Clock {
  /** Advances the time by `ms`, fires the due timers, and waits for the promises that depend on them. */
  advance(ms: number): Promise<void>;
  /** The number of pending timers. */
  readonly waiting: number;
}

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** Makes a clock that a test advances. */
export function manualClock(): ManualClock {
  const timers = new Set<Timer>();
  let now = 0;
  return {
    now: () => now,
    setTimeout(callback, ms) {
      const timer = { at: now + ms, callback };
      timers.add(timer);
      return timer;
    },
    clearTimeout(handle) {
      timers.delete(handle as Timer);
    },
    async advance(ms) {
      const end = now + ms;
      await settled();
      for (let timer = next(timers, end); timer !== undefined; timer = next(timers, end)) {
        timers.delete(timer);
        now = timer.at;
        timer.callback();
        await settled();
      }
      now = end;
    },
    get waiting() {
      return timers.size;
    },
  };
}

/** Resolves when all promises that can settle now have settled. */
export function settled(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

function next(timers: ReadonlySet<Timer>, end: number): Timer | undefined {
  return [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
}
