import { readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FileSessionStore } from 'keelson/file';
import type { SessionHolder } from 'keelson/store';
import { expect, onTestFinished, test } from 'vitest';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { addTexts, said } from '../../support/stores/file-session.js';
import { startStoreProcess } from '../../support/stores/store-process.js';
import { logIn, temporaryFolder } from '../../support/stores/temporary-folder.js';

const TTL_MS = 60_000;
const mine = { token: 'mine', run: 'mine', ttlMs: TTL_MS };

/** Starts a process that claims the session `s`. */
async function startHolder(folder: string) {
  const holder = startStoreProcess<SessionHolder>({ folder, task: 'hold-claim', name: 's', count: TTL_MS });
  onTestFinished(() => void holder.child.kill('SIGKILL'));
  await holder.said(1);
  const clock = fakeClock(holder.lines[0]?.until ?? 0);
  return { ...holder, clock, store: new FileSessionStore({ folder, clock }) };
}

test('a claim, its renewal and its release do not touch the log of a stored session', async () => {
  const folder = await temporaryFolder();
  const store = new FileSessionStore({ folder });
  await addTexts(store, 's', { texts: ['1'] });
  const file = await logIn(folder);
  const before = await readFile(file);

  expect(await store.claim('s', mine)).toMatchObject({ claimed: true });
  expect(await store.renew('s', { ...mine, waitsFor: 'an approval' })).toBe(true);
  const other = new FileSessionStore({ folder });
  expect(await other.claim('s', { ...mine, token: 'other' })).toMatchObject({ holder: { waitsFor: 'an approval' } });
  expect(await store.append('s', { token: 'mine', length: 1, entries: [], release: true })).toMatchObject({
    released: true,
  });

  expect(await other.claim('s', { ...mine, token: 'other' })).toMatchObject({ claimed: true });
  expect((await readFile(file)).equals(before)).toBe(true);
});

test('a claim of a new session is stored, and the session is not listed', async () => {
  const folder = await temporaryFolder();
  await new FileSessionStore({ folder }).claim('s', { ...mine, details: { owner: 'ada' } });
  const store = new FileSessionStore({ folder });

  expect(await store.load('s')).toMatchObject({ length: 0, holder: { run: 'mine' } });
  expect(await store.list({ owner: 'ada' })).toEqual({ sessions: [], next: undefined });
});

test('a claim that ran out is kept while its process lives, and can be taken over when it was killed', async () => {
  const { child, ended, clock, store } = await startHolder(await temporaryFolder());
  clock.advance(8 * TTL_MS);

  expect(await store.claim('s', mine)).toMatchObject({ claimed: false, holder: { run: 's' } });
  child.kill('SIGKILL');
  await ended;

  expect(await store.claim('s', mine)).toMatchObject({ claimed: true, lost: 's' });
});

test('a claim is not kept for longer than ten times its lifetime', async () => {
  const { clock, store } = await startHolder(await temporaryFolder());
  clock.advance(9 * TTL_MS - 1);
  expect(await store.claim('s', mine)).toMatchObject({ claimed: false });

  clock.advance(1);

  expect(await store.claim('s', mine)).toMatchObject({ claimed: true, lost: 's' });
});

test('a claim of a killed process holds until its time has passed', async () => {
  const folder = await temporaryFolder();
  const { child, ended, clock, store } = await startHolder(folder);
  child.kill('SIGKILL');
  await ended;
  const early = fakeClock(clock.now() - 1);

  expect(await new FileSessionStore({ folder, clock: early }).claim('s', mine)).toMatchObject({ claimed: false });
  expect(await store.claim('s', mine)).toMatchObject({ claimed: true, lost: 's' });
});

test('a claim file that a power failure has damaged counts as no claim', async () => {
  const folder = await temporaryFolder();
  const store = new FileSessionStore({ folder });
  await store.claim('s', mine);
  await truncate(join(await logIn(folder), '..', 'claim'), 10);

  expect(await store.append('s', { token: 'mine', length: 0, entries: [said('1')] })).toMatchObject({ owned: false });
  expect(await store.claim('s', { ...mine, token: 'other' })).toMatchObject({ claimed: true });
});

test('a claim file that is left of an expired session does not count for the next one', async () => {
  const folder = await temporaryFolder();
  const clock = fakeClock(Date.now());
  const store = new FileSessionStore({ folder, clock, ttlMs: 1_000 });
  await store.claim('s', mine);
  const file = join(await logIn(folder), '..', 'claim');
  const left = await readFile(file);
  clock.advance(1_000);
  await addTexts(store, 's', { texts: ['1'] });
  await writeFile(file, left);

  const loaded = await new FileSessionStore({ folder, clock, ttlMs: 1_000 }).load('s');
  expect(loaded).toMatchObject({ length: 1 });
  expect(loaded?.holder).toBe(undefined);
});
