import { sleep, systemClock, withinMs } from '../../internal/clock.js';

/** Stands for a promise that did not settle within the time limit. */
export const LATE = Symbol('late');

const SLICES = 20;

/**
 * Settles as the promise does, or resolves to `LATE`. If the whole machine pauses, only a slice of the time is lost.
 */
export async function within<T>(promise: PromiseLike<T>, ms: number): Promise<T | typeof LATE> {
  const settled = promise.then((value) => ({ value }));
  for (let slice = 0; slice < SLICES; slice += 1) {
    const found = await withinMs(settled, ms / SLICES, systemClock);
    if (found !== undefined) return found.value;
  }
  return LATE;
}

/** Waits, so that timers and queued callbacks run. */
export function pause(ms = 0): Promise<void> {
  return sleep(ms, systemClock);
}
