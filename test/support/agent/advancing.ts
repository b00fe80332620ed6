import type { FakeClock } from './fake-clock.js';
import { pause } from './settle.js';

/** Advances the clock in steps until a promise has settled. */
export async function advancing<T>(clock: FakeClock, promise: Promise<T>, stepMs = 1_000): Promise<T> {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  promise.then(settle, settle);
  await pause(1);
  while (!isSettled) {
    clock.advance(stepMs);
    await pause(1);
  }
  return promise;
}
