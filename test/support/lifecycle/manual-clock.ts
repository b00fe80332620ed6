import type { Clock } from '../../../src/internal/clock.js';

/** A clock that stands still until it is moved. */
export interface ManualClock extends Clock {
  /** Moves on by `ms`, fires what falls due on the way, and lets everything that follows from it happen. */
  advance(ms: number): Promise<void>;
  /** Timers that wait. */
  readonly waiting: number;
}

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** Makes a clock that a test moves by hand. */
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

/** Resolves when every promise that can settle by now has, and all that hangs on it is done. */
export function settled(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

function next(timers: ReadonlySet<Timer>, end: number): Timer | undefined {
  return [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
}
