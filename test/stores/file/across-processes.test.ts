import { expect, test } from 'vitest';
import type { StateChange } from '../../../src/state/state-store.js';
import { FileSessionStore, FileStateStore } from '../../../src/stores/file/file.js';
import { startStoreProcess } from '../../support/stores/store-process.js';
import { temporaryFolder } from '../../support/stores/temporary-folder.js';

// covers: S1-11.3.3
test('three processes that write to one session of state keep its limits at every moment', async () => {
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
  // No write was lost and none counted twice: what each call found is what another left.
  const before = changes.map(({ bytesBefore }) => bytesBefore).sort();
  const after = changes.map(({ bytesAfter }) => bytesAfter);
  expect(before).toEqual([0, ...withoutOne(after, bytes)].sort());
}, 30_000);

test('of three processes that append to one session, none loses a message', async () => {
  const folder = await temporaryFolder();
  const names = ['a', 'b', 'c'];
  const processes = names.map((name) => startStoreProcess({ folder, task: 'share-session', name, count: 60 }));
  expect(await Promise.all(processes.map(({ ended }) => ended))).toEqual([0, 0, 0]);

  const { messages = [], revision } = (await new FileSessionStore({ folder }).load('s')) ?? {};

  expect(revision).toBe(180);
  const said = messages.map(({ content }) => String(content));
  for (const name of names) {
    expect(said.filter((text) => text.startsWith(name))).toEqual(
      Array.from({ length: 60 }, (_, at) => `${name} ${at}`),
    );
  }
}, 30_000);

function withoutOne(list: readonly number[], value: number): number[] {
  const at = list.lastIndexOf(value);
  return list.filter((_each, index) => index !== at);
}
