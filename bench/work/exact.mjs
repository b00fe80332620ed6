// Prints the bytes and the microtasks of one run: `node <flags> exact.mjs <floor, or the URL of a build> <work as
// JSON>`. The flags are in driver/exact.ts.
// A third argument, `late`, adds an `await` as a control.
import { checkSide } from './check.mjs';
import { floorSide } from './floor.mjs';
import { keelsonSide } from './keelson.mjs';
import { ANSWER } from './script.mjs';

const ROUNDS = 9;
const WARM_UPS = 2;
const MOST_RUNS = 10_000;
/** Small enough for the young generation: a garbage collection between two readings would hide allocations. */
const MOST_BYTES = 128e6;

const [sideName = '', workJson = '', control = ''] = process.argv.slice(2);
/** @type {import('./script.mjs').Work} */
const work = { ...ANSWER, ...JSON.parse(workJson) };
const counts = { tools: 0, hooks: 0, deltas: 0 };
const side = sideName === 'floor' ? floorSide(work, counts) : keelsonSide(await import(sideName), work, counts);
await checkSide(side, work, counts);

/** @param {number} runs */
async function runMany(runs) {
  for (let i = 0; i < runs; i++) await side.run();
}

/**
 * Returns the minimum of several rounds, since the heap sometimes grows by itself.
 * @param {number} runs
 */
async function allocatedBy(runs) {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS + WARM_UPS; round++) {
    globalThis.gc?.();
    const before = process.memoryUsage().heapUsed;
    await runMany(runs);
    const bytes = process.memoryUsage().heapUsed - before;
    if (round >= WARM_UPS) least = Math.min(least, bytes);
  }
  return least;
}

async function bytesOfRun() {
  const few = 100;
  const about = (await allocatedBy(few)) / few;
  const runs = Math.floor(Math.min(MOST_RUNS, MOST_BYTES / about));
  return ((await allocatedBy(runs)) - (await allocatedBy(0))) / runs;
}

/**
 * Counts the turns of the microtask queue until a run has ended.
 * @param {() => Promise<unknown>} run
 */
async function microtasksOf(run) {
  let ended = false;
  run().then(() => {
    ended = true;
  });
  let microtasks = 0;
  for (; !ended; microtasks++) await undefined;
  return microtasks;
}

const run = control === 'late' ? async () => side.run() : side.run;
console.log(JSON.stringify({ bytes: await bytesOfRun(), microtasks: await microtasksOf(run) }));
