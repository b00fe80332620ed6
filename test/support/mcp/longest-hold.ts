import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Delays above this number of milliseconds are measured again. */
const SUSPECT_MS = 90;
const TRIES = 4;

/**
 * Returns the longest time in milliseconds that `work` held the thread. Repeats a long measurement, because other
 * processes may have caused it.
 */
export async function longestHold(work: () => unknown): Promise<number> {
  let hold = Infinity;
  for (let tries = 0; tries < TRIES && hold > SUSPECT_MS; tries++) hold = Math.min(hold, await measure(work));
  return hold;
}

async function measure(work: () => unknown): Promise<number> {
  const delays = monitorEventLoopDelay({ resolution: 5 });
  delays.enable();
  await work();
  await new Promise((resolve) => setTimeout(resolve, 10));
  delays.disable();
  return delays.max / 1e6;
}
