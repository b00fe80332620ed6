import { once } from 'node:events';
import { readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { script } from '../support/process/scratch.js';
import { allowed, makeExtension, makePlace, start, verified } from '../support/trust/place.js';

const EVIL = '#!/bin/sh\necho EVIL\n';

/** Swaps a script repeatedly in a worker thread. `stop` returns the number of swaps. */
function swapper(path: string, way: string): { stop: () => Promise<number> } {
  const counter = new Int32Array(new SharedArrayBuffer(8));
  const workerData = { path, good: readFileSync(path, 'utf8'), evil: EVIL, way, counter };
  const worker = new Worker(new URL('../support/soak/swapper.mjs', import.meta.url), { workerData });
  const ended = once(worker, 'exit');
  return {
    stop: async () => {
      Atomics.store(counter, 1, 1);
      await ended;
      return Atomics.load(counter, 0);
    },
  };
}

const ways: Readonly<Record<string, (path: string) => void>> = {
  'a rename': (path) => renameSync(script(`${path}.new`, EVIL), path),
  'writing in place': (path) => writeFileSync(path, EVIL),
  'a link': (path) => {
    const evil = script(join(path, '..', '..', '..', '..', 'evil.sh'), EVIL);
    rmSync(path);
    symlinkSync(evil, path);
  },
};

test.each(Object.entries(ways))(
  'C9: while a script is constantly swapped by %s, only the approved script runs',
  { timeout: 600_000 },
  async (way) => {
    const place = makePlace();
    const { root, item } = makeExtension(place);
    const gate = place.gate({ approve: () => true });
    const decision = allowed(await gate.authorize(item));
    verified(await gate.verify(decision));
    const swapping = swapper(join(root, 'hook.sh'), way);
    const outcomes = new Map<string, number>();

    for (let round = 0; round < 1_000; round++) {
      const ready = await gate.verify(decision);
      const outcome = ready.allowed ? (await start(ready)).stdout.trim() : 'refused';
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }

    expect(await swapping.stop()).toBeGreaterThan(0);
    // A short run may have only one of these outcomes, depending on the timing of the swaps.
    expect(['good', 'refused']).toEqual(expect.arrayContaining([...outcomes.keys()]));
  },
);

test.each(Object.entries(ways))(
  'C9: a script that is swapped by %s between the check and the start never runs',
  { timeout: 600_000 },
  async (_way, way) => {
    const place = makePlace();
    const { root, item } = makeExtension(place);
    const gate = place.gate({ approve: () => true });
    const decision = allowed(await gate.authorize(item));
    const path = join(root, 'hook.sh');
    const good = readFileSync(path, 'utf8');

    for (let round = 0; round < 1_000; round++) {
      rmSync(path);
      script(path, good);
      const ready = verified(await gate.verify(decision));
      way(path);
      expect((await start(ready)).stdout).toBe('good\n');
    }
  },
);
