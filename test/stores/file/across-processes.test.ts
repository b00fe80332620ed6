import { expect, test } from 'vitest';
import type { StateChange } from '../../../src/state/state-store.js';
import { FileSessionStore, FileStateStore } from '../../../src/stores/file/file.js';
import { textsOf } from '../../support/stores/file-session.js';
import { checkKilledWriters } from '../../support/stores/killed-writers.js';
import { startStoreProcess } from '../../support/stores/store-process.js';
import { temporaryFolder } from '../../support/stores/temporary-folder.js';

// covers: S1-11.3.3
test('three processes that write the state of one session never exceed its limits', async () => {
  const folder = await temporaryFolder();
  const processes = ['a', 'b', 'c'].map((name) =>
    startStoreProcess<StateChange>({ folder, task: 'share-state', name, count: 100 }),
  );
  expect(await Promise.all(processes.map(({ ended }) => ended))).toEqual([0, 0, 0]);

  const changes = processes.flatMap(({ lines }) => lines);
  const { bytes, extensions } = await new FileStateStore({ folder }).stats('s');

  expect(changes).toHaveLength(300);
  expect(Math.max(...changes.map(({ bytesAfter }) => bytesAfter))).toBeLessThanOrEqual(8_000);
  expect(Math.max(...Object.values(extensions))).toBeLessThanOrEqual(5_000);
  expect(Object.values(extensions).reduce((sum, each) => sum + each, 0)).toBe(bytes);
  // Each call starts with the size that another call left, so no write was lost or counted twice.
  const before = changes.map(({ bytesBefore }) => bytesBefore).sort();
  const after = changes.map(({ bytesAfter }) => bytesAfter);
  expect(before).toEqual([0, ...withoutOne(after, bytes)].sort());
}, 30_000);

test('three processes that claim one session in turn lose no entry', async () => {
  const folder = await temporaryFolder();
  const names = ['a', 'b', 'c'];
  const processes = names.map((name) => startStoreProcess({ folder, task: 'share-session', name, count: 60 }));
  expect(await Promise.all(processes.map(({ ended }) => ended))).toEqual([0, 0, 0]);

  const texts = textsOf(await new FileSessionStore({ folder }).load('s'));

  expect(texts).toHaveLength(180);
  for (const name of names) {
    expect(texts.filter((text) => text.startsWith(name))).toEqual(
      Array.from({ length: 60 }, (_, index) => `${name} ${index}`),
    );
  }
}, 30_000);

// `npm run soak` kills the processes 50 times.
test('all acknowledged writes survive a kill of the writing processes', () => checkKilledWriters(200), 30_000);

function withoutOne(list: readonly number[], value: number): number[] {
  const last = list.lastIndexOf(value);
  return list.filter((_each, index) => index !== last);
}
