import { cpuNow } from '../process/cpu-time.js';

/** Holds above this number of milliseconds are measured again. */
const SUSPECT_MS = 90;
const TRIES = 4;
const TICK_MS = 5;

/** Returns the longest time in milliseconds that `work` held the thread. Repeats a long measurement. */
export async function longestHold(work: () => unknown): Promise<number> {
  let hold = Infinity;
  for (let tries = 0; tries < TRIES && hold > SUSPECT_MS; tries++) hold = Math.min(hold, await measure(work));
  return hold;
}

/** Returns the longest time between two ticks of a timer. */
async function measure(work: () => unknown): Promise<number> {
  let longest = 0;
  let last = cpuNow();
  const tick = () => {
    const time = cpuNow();
    longest = Math.max(longest, time - last);
    last = time;
  };
  const timer = setInterval(tick, TICK_MS);
  try {
    await work();
    await new Promise((resolve) => setTimeout(resolve, 2 * TICK_MS));
  } finally {
    clearInterval(timer);
  }
  tick();
  return longest;
}
