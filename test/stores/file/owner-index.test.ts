import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FileSessionStore } from 'keelson/file';
import { expect, test } from 'vitest';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { addTexts } from '../../support/stores/file-session.js';
import { logIn, temporaryFolder } from '../../support/stores/temporary-folder.js';

const ada = { owner: 'ada' };
const idsOf = async (store: FileSessionStore, owner = 'ada') =>
  (await store.list({ owner })).sessions.map(({ id, length }) => `${id}:${length}`);

/** Returns the paths of all files in a directory whose name ends with `end`. */
async function filesIn(folder: string, end = ''): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((it) => it.isFile() && it.name.endsWith(end)).map((it) => join(it.parentPath, it.name));
}

/** Removes the index entries of all sessions, as if the process was killed before it wrote them. */
async function loseMarkers(folder: string): Promise<void> {
  for (const path of await filesIn(join(folder, 'owners'))) if (!path.endsWith('complete')) await rm(path);
}

async function listedStore() {
  const folder = await temporaryFolder();
  const clock = fakeClock(Date.now());
  const store = new FileSessionStore({ folder, clock });
  for (const id of ['a', 'b', 'c']) {
    await addTexts(store, id, { texts: ['1'], details: { owner: id === 'c' ? 'bob' : 'ada' } });
    clock.advance(1_000);
  }
  await store.list(ada);
  return { folder, clock, store, open: () => new FileSessionStore({ folder, clock }) };
}

test('a list reads no logs once all sessions are in the index', async () => {
  const { folder, clock, store, open } = await listedStore();
  await addTexts(store, 'a', { texts: ['2'] });
  clock.advance(1_000);
  await addTexts(store, 'd', { texts: ['1', '2', '3'], details: ada });
  for (const log of await filesIn(folder, 'log')) await writeFile(log, 'damaged');

  expect(await idsOf(open())).toEqual(['d:3', 'a:2', 'b:1']);
  expect(await idsOf(open(), 'bob')).toEqual(['c:1']);
  expect(await idsOf(open(), 'nobody')).toEqual([]);
});

test('a store without an index lists all its sessions, in the same order', async () => {
  const { folder, open } = await listedStore();
  await rm(join(folder, 'owners'), { recursive: true });
  const { sessions, next } = await open().list({ ...ada, limit: 1 });

  expect(sessions.map(({ id }) => id)).toEqual(['b']);
  expect((await open().list({ ...ada, after: next })).sessions.map(({ id }) => id)).toEqual(['a']);
  await addTexts(open(), 'a', { texts: ['2'] });
  expect(await idsOf(open())).toEqual(['a:2', 'b:1']);
  expect(await idsOf(open(), 'bob')).toEqual(['c:1']);
});

test('an index that a killed process did not write is repaired by the next use of the session', async () => {
  const { folder, store, open } = await listedStore();
  const summaries = await filesIn(folder, 'summary');
  const before = await Promise.all(summaries.map((path) => readFile(path)));
  await addTexts(store, 'a', { texts: ['2', '3'] });
  for (const [at, path] of summaries.entries()) await writeFile(path, before[at] ?? '');
  await loseMarkers(folder);

  expect(await idsOf(open())).toEqual([]);
  await open().load('a');

  expect(await idsOf(open())).toEqual(['a:3']);
});

test('a session whose summary a power failure has damaged is listed', async () => {
  const { folder, open } = await listedStore();
  for (const path of await filesIn(folder, 'summary')) await writeFile(path, '');

  expect(await idsOf(open())).toEqual(['b:1', 'a:1']);
  for (const path of await filesIn(folder, 'log')) await writeFile(path, 'damaged');
  expect(await idsOf(open())).toEqual(['b:1', 'a:1']);
});

test('deleted and expired sessions leave the index', async () => {
  const folder = await temporaryFolder();
  const clock = fakeClock(Date.now());
  const store = new FileSessionStore({ folder, clock, ttlMs: 60_000 });
  for (const id of ['a', 'b', 'c']) await addTexts(store, id, { texts: ['1'], details: ada });
  await store.list(ada);
  await store.delete('a');
  clock.advance(40_000);
  await store.load('b');
  clock.advance(40_000);

  expect(await idsOf(store)).toEqual(['b:1']);
  const left = (await filesIn(join(folder, 'owners'))).filter((path) => !path.endsWith('complete'));
  expect(left).toHaveLength(1);
});

test('a session that was deleted and belongs to another owner now is listed for that owner only', async () => {
  const { folder, store, open } = await listedStore();
  const markers = await filesIn(join(folder, 'owners'));
  const kept = await Promise.all(markers.map((path) => readFile(path)));
  await store.delete('a');
  // As after a power failure, which brings the files back.
  for (const [at, path] of markers.entries()) await writeFile(path, kept[at] ?? '');
  await addTexts(store, 'a', { texts: ['1'], details: { owner: 'bob' } });

  expect(await idsOf(open())).toEqual(['b:1']);
  expect((await idsOf(open(), 'bob')).sort()).toEqual(['a:1', 'c:1']);
});

test('a store without owners has no index', async () => {
  const folder = await temporaryFolder();
  await addTexts(new FileSessionStore({ folder }), 's', { texts: ['1'] });

  expect(await readdir(folder)).toEqual([expect.stringMatching(/^session-/)]);
  expect((await readdir(dirname(await logIn(folder)))).sort()).toEqual(['free', 'length', 'log', 'summary']);
});
