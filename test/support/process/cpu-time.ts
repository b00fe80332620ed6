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

/** Returns true if one of three runs uses less processor time than this, since others may run at the same time. */
export async function takesAtMostMs(limit: number, work: () => unknown): Promise<boolean> {
  for (let run = 0; run < 3; run += 1) if ((await cpuMs(work)) < limit) return true;
  return false;
}
