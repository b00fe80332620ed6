import { systemClock } from '../../internal/clock.js';

/** Stands for a promise that did not settle within the time limit. */
export const LATE = Symbol('late');

const SLICES = 20;

/**
 * Returns the promise's outcome, or `LATE`. Measures time in slices, so that a pause of the whole machine costs one
 * slice only.
 */
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

/** Waits, so that timers and queued callbacks run. */
export function pause(ms = 0): Promise<void> {
  return new Promise((resolve) => {
    systemClock.setTimeout(resolve, ms);
  });
}
