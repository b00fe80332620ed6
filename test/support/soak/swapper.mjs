import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

// Repeatedly restores the approved script and replaces it by a malicious one, until the counter says to stop.
/** @type {{ path: string, good: string, evil: string, way: string, counter: Int32Array }} */
const { path, good, evil, way, counter } = workerData;
/** @type {(at: string, text: string) => void} */
const write = (at, text) => writeFileSync(at, text, { mode: 0o755 });
/** @type {Record<string, () => void>} */
const ways = {
  'a rename': () => {
    write(`${path}.new`, evil);
    renameSync(`${path}.new`, path);
  },
  'writing in place': () => writeFileSync(path, evil),
  'a link': () => {
    write(`${path}.evil`, evil);
    rmSync(path);
    symlinkSync(`${path}.evil`, path);
  },
};
/** @type {(ms: number) => void} */
const pause = (ms) => void Atomics.wait(counter, 1, 0, ms);

while (Atomics.load(counter, 1) === 0) {
  rmSync(path, { force: true });
  write(path, good);
  pause(Math.random() * 5);
  ways[way]?.();
  pause(Math.random());
  Atomics.add(counter, 0, 1);
}
