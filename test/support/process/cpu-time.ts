import { existsSync, readFileSync } from 'node:fs';

/** The first number is the CPU time of the calling thread in nanoseconds. */
const STATISTICS = '/proc/thread-self/schedstat';

/** Milliseconds of CPU time of this thread, which other processes do not change. Without `/proc`, the wall clock. */
export const cpuNow: () => number = existsSync(STATISTICS)
  ? () => Number(readFileSync(STATISTICS, 'utf8').split(' ')[0]) / 1e6
  : () => performance.now();

/** Returns the processor time that this process uses for some work, in milliseconds. */
export async function cpuMs(work: () => unknown): Promise<number> {
  const begun = process.cpuUsage();
  const result = work();
  if (result instanceof Promise) await result;
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1_000;
}

/**
 * Returns true if one of three runs holds this thread for less time. The time of the engine's other threads, which
 * compile and collect garbage, does not count.
 */
export function takesAtMostMs(limit: number, work: () => void): boolean {
  for (let run = 0; run < 3; run += 1) {
    const begun = cpuNow();
    work();
    if (cpuNow() - begun < limit) return true;
  }
  return false;
}
