import { cpuMs, cpuNow } from '../process/cpu-time.js';

const TRIES = 4;
const TICK_MS = 5;
/** Processor time of `reference` on a usual machine, in milliseconds. */
const REFERENCE_MS = 2;
const entries = Array.from({ length: 500 }, (_, at) => ({ name: `k${at}`, list: [at, at + 1], isOn: true }));

/**
 * Returns the longest time that `work` held the thread, in milliseconds of a usual machine, so that a slow machine gives
 * the same result. Repeats a measurement above `suspectMs`.
 */
export async function longestHold(work: () => unknown, suspectMs = 90): Promise<number> {
  let hold = Infinity;
  for (let tries = 0; tries < TRIES && hold > suspectMs; tries++) {
    const slowness = (await referenceMs()) / REFERENCE_MS;
    hold = Math.min(hold, (await measure(work)) / slowness);
  }
  return hold;
}

/** Returns the shortest of several times, since the garbage collector may run in between. */
async function referenceMs(): Promise<number> {
  let least = Infinity;
  for (let tries = 0; tries < 5; tries++) least = Math.min(least, await cpuMs(reference));
  return least;
}

/** Work of the kind that the tests measure. */
function reference(): void {
  for (let round = 0; round < 6; round++) {
    const copies: typeof entries = JSON.parse(JSON.stringify(entries));
    const byName = new Map(copies.map((entry) => [entry.name, entry]));
    for (const name of byName.keys()) if (!/^k\d+$/.test(name)) byName.delete(name);
  }
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
