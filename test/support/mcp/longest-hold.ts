import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Returns the longest time in milliseconds that `work` held the thread. */
export async function longestHold(work: () => Promise<void>): Promise<number> {
  const delays = monitorEventLoopDelay({ resolution: 5 });
  delays.enable();
  await work();
  await new Promise((resolve) => setTimeout(resolve, 10));
  delays.disable();
  return delays.max / 1e6;
}
