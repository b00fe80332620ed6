import { cpuMs } from './process/cpu-time.js';

const FACTOR = 16;
const TRIES = 5;
/** A ratio above this one is measured again. */
const SUSPECT = 50;
/** A shorter time of the base counts as this time, because it is mostly noise. */
const MIN_MS = 0.2;

/**
 * Returns how many times as long some work takes at 16 times its size: about 16 if it takes linear time, and 256 if it
 * takes quadratic time. Tests expect less than 100. Neither the speed nor the load of the machine changes the result.
 *
 * `prepare` returns the work of a given size, which may return a promise. Choose a size whose work takes about a
 * millisecond.
 */
export function growth(size: number, prepare: (size: number) => () => unknown): Promise<number> {
  return timesAsLong(prepare(size), prepare(FACTOR * size));
}

/** Returns how many times the processor time of `base` some other work takes. Both may return a promise. */
export async function timesAsLong(base: () => unknown, work: () => unknown): Promise<number> {
  // The first run compiles the code.
  await cpuMs(work);
  let [baseMs, workMs] = [Infinity, Infinity];
  let ratio = Infinity;
  // Other work only adds time, so the least times count.
  for (let tries = 0; tries < TRIES && ratio > SUSPECT; tries += 1) {
    for (let runs = 0; runs < 3; runs += 1) baseMs = Math.min(baseMs, await cpuMs(base));
    workMs = Math.min(workMs, await cpuMs(work));
    ratio = workMs / Math.max(baseMs, MIN_MS);
  }
  return ratio;
}
