// Runs one side in its own process: `node lane.mjs <floor, or the URL of a build> <work as JSON>`. Runs one block per
// message of the parent process.
import { checkSide } from './check.mjs';
import { floorSide } from './floor.mjs';
import { keelsonSide } from './keelson.mjs';
import { ANSWER } from './script.mjs';

const [sideName = '', workJson = ''] = process.argv.slice(2);
/** @type {import('./script.mjs').Work & { kind: 'run' | 'construct' | 'concurrent' }} */
const work = { kind: 'run', ...ANSWER, ...JSON.parse(workJson) };
const counts = { tools: 0, hooks: 0, deltas: 0 };
const library = sideName === 'floor' ? undefined : await import(sideName);
const extension = work.extensions === undefined ? {} : await import(new URL('extension.js', sideName).href);
const side = library === undefined ? floorSide(work, counts) : keelsonSide({ ...library, ...extension }, work, counts);
await checkSide(side, work, counts);

const CONCURRENT = 1000;
const KINDS = { run: side.run, construct: async () => side.construct(), concurrent: runMany };
const run = KINDS[work.kind];

async function runMany() {
  await Promise.all(Array.from({ length: CONCURRENT }, side.run));
}

/**
 * Makes the runs in sequence, then waits one turn of the event loop, so that deferred work is included in the time.
 * @param {number} runs
 */
async function block(runs) {
  const cpu = process.cpuUsage();
  const start = performance.now();
  for (let i = 0; i < runs; i++) await run();
  await new Promise((resolve) => setImmediate(resolve));
  const wallUs = ((performance.now() - start) * 1000) / runs;
  const { user, system } = process.cpuUsage(cpu);
  const cpuUs = (user + system) / runs;
  return { wallUs, cpuUs, busyUs: Math.min(wallUs, cpuUs) };
}

/**
 * Warms up, and returns the number of runs that fill a block. Measures the warm-up in CPU time, since V8 does not optimise
 * a process that waits for the CPU.
 * @param {{ warmMs: number, blockMs: number }} times
 */
async function warm({ warmMs, blockMs }) {
  const latest = performance.now() + warmMs * 5;
  let runs = 1;
  for (let cpuMs = 0; cpuMs < warmMs && performance.now() < latest; ) {
    const { wallUs, cpuUs } = await block(runs);
    cpuMs += (cpuUs * runs) / 1000;
    runs = Math.max(1, Math.min(runs * 2, Math.round((blockMs * 1000) / wallUs)));
  }
  return runs;
}

process.on('message', async (/** @type {{ warm?: { warmMs: number, blockMs: number }, runs?: number }} */ order) => {
  process.send?.(order.warm === undefined ? await block(order.runs ?? 1) : await warm(order.warm));
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
