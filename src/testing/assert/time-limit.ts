import { systemClock } from '../../internal/clock.js';

/** Stands for a promise that did not settle in time. */
export const LATE = Symbol('late');

const SLICES = 20;

/** A promise's outcome, or `LATE`. The time is taken in slices: a machine that is held up for long loses one of them. */
export function within<T>(promise: PromiseLike<T>, ms: number): Promise<T | typeof LATE> {
  return new Promise((resolve, reject) => {
    let left = SLICES - 1;
    let timer: unknown;
    const wait = () => {
      timer = systemClock.setTimeout(left === 0 ? () => resolve(LATE) : wait, ms / SLICES);
      left -= 1;
    };
    wait();
    const stop = () => systemClock.clearTimeout(timer);
    promise.then(resolve, reject).then(stop, stop);
  });
}

/** Lets timers and everything that is queued have their turn. */
export function pause(ms = 0): Promise<void> {
  return new Promise((resolve) => {
    systemClock.setTimeout(resolve, ms);
  });
}
