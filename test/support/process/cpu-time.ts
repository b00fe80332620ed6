import { existsSync, readFileSync } from 'node:fs';

/** The first number is the CPU time of the calling thread in nanoseconds. */
const STATISTICS = '/proc/thread-self/schedstat';

/** Milliseconds of CPU time of this thread, which other processes do not change. Without `/proc`, the wall clock. */
export const cpuNow: () => number = existsSync(STATISTICS)
  ? () => Number(readFileSync(STATISTICS, 'utf8').split(' ')[0]) / 1e6
  : () => performance.now();
