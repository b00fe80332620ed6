import type { Clock } from 'keelson';

/** A clock whose time only changes when a test advances it. */
export interface FakeClock extends Clock {
  /** Advances the time and calls every due timer, in order. */
  advance(ms: number): void;
  /** Advances the time to the next timer and calls that timer. */
  advanceToNext(): void;
  /** The number of pending timers. */
  pending(): number;
  /** The requested delays, in order. */
  readonly delays: readonly number[];
}

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

export function fakeClock(start = 0): FakeClock {
  const timers = new Map<number, Timer>();
  const delays: number[] = [];
  let time = start;
  let last = 0;
  const due = (until: number) => [...timers].filter(([, { at }]) => at <= until).sort(([, a], [, b]) => a.at - b.at)[0];
  return {
    delays,
    now: () => time,
    setTimeout(callback, ms) {
      last += 1;
      delays.push(ms);
      timers.set(last, { at: time + ms, callback });
      return last;
    },
    clearTimeout: (handle) => void timers.delete(handle as number),
    pending: () => timers.size,
    advanceToNext() {
      const next = due(Number.POSITIVE_INFINITY);
      if (next === undefined) return;
      timers.delete(next[0]);
      time = Math.max(time, next[1].at);
      next[1].callback();
    },
    advance(ms) {
      const until = time + ms;
      for (let next = due(until); next !== undefined; next = due(until)) {
        const [handle, { at, callback }] = next;
        timers.delete(handle);
        time = at;
        callback();
      }
      time = until;
    },
  };
}

/** A clock that advances to its next timer as soon as no other work is pending. */
export function fastClock(start = 0): Clock {
  const clock = fakeClock(start);
  let ticking = false;
  const tick = () => {
    ticking = clock.pending() > 0;
    if (!ticking) return;
    clock.advanceToNext();
    setImmediate(tick);
  };
  return {
    ...clock,
    setTimeout(callback, ms) {
      if (!ticking) setImmediate(tick);
      ticking = true;
      return clock.setTimeout(callback, ms);
    },
  };
}
