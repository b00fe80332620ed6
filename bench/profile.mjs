// Profiles time and bytes by function: `node bench/profile.mjs '{"turns":1,"calls":1}' [the URL of a build]`.
import { Session } from 'node:inspector/promises';
import { keelsonSide } from './work/keelson.mjs';
import { ANSWER } from './work/script.mjs';

const [workJson = '{}', build = new URL('../dist/index.js', import.meta.url).href] = process.argv.slice(2);
const side = keelsonSide(
  await import(build),
  { ...ANSWER, ...JSON.parse(workJson) },
  { tools: 0, hooks: 0, deltas: 0 },
);

/** @param {number} ms */
async function spin(ms) {
  let runs = 0;
  for (const end = performance.now() + ms; performance.now() < end; runs++) await side.run();
  return runs;
}

/** @typedef {{ functionName: string, url: string, lineNumber: number }} Frame */

/**
 * @param {string} title
 * @param {[Frame, number][]} shares
 */
function print(title, shares) {
  /** @type {Map<string, number>} */
  const byPlace = new Map();
  let total = 0;
  for (const [{ functionName, url, lineNumber }, amount] of shares) {
    const place = `${functionName || '(anonymous)'}  ${url.replace(/.*\//, '')}:${lineNumber + 1}`;
    byPlace.set(place, (byPlace.get(place) ?? 0) + amount);
    total += amount;
  }
  console.log(title);
  for (const [place, amount] of [...byPlace].sort((a, b) => b[1] - a[1]).slice(0, 22)) {
    console.log(`${((amount / total) * 100).toFixed(1).padStart(6)} %  ${place}`);
  }
}

await spin(1000);
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.setSamplingInterval', { interval: 100 });
await session.post('Profiler.start');
const runs = await spin(2000);
const { profile } = await session.post('Profiler.stop');
const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
print(
  `time, ${(2_000_000 / runs).toFixed(2)} µs per run`,
  (profile.samples ?? []).map((id, i) => [/** @type {Frame} */ (frames.get(id)), profile.timeDeltas?.[i] ?? 0]),
);

await session.post('HeapProfiler.startSampling', {
  samplingInterval: 4096,
  includeObjectsCollectedByMajorGC: true,
  includeObjectsCollectedByMinorGC: true,
});
await spin(1000);
const { profile: heap } = await session.post('HeapProfiler.stopSampling');
/** @type {[Frame, number][]} */
const allocated = [];
const open = [heap.head];
for (let node = open.pop(); node !== undefined; node = open.pop()) {
  allocated.push([node.callFrame, node.selfSize]);
  open.push(...node.children);
}
print('bytes', allocated);
