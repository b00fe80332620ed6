import { readdir } from 'node:fs/promises';
import { FileSessionStore } from 'keelson/file';
import { expect, it } from 'vitest';
import { said } from '../../support/stores/file-session.js';
import { temporaryFolder } from '../../support/stores/temporary-folder.js';

it('leaves no file after calls for a session that is not stored', async () => {
  const folder = await temporaryFolder();
  const store = new FileSessionStore({ folder });

  expect(await store.append('absent', { token: 'x', length: 3, entries: [said('Hello')] })).toMatchObject({
    owned: false,
    stored: false,
  });
  expect(await store.append('absent', { token: 'x', length: 0, entries: [], release: true })).toMatchObject({
    owned: false,
    stored: false,
  });
  expect(await store.renew('absent', { token: 'x', ttlMs: 1 })).toBe(false);
  expect(await store.post('absent', said('Hello'))).toBe(undefined);
  expect(await store.update('absent', { title: 'x' })).toBe(undefined);
  expect(await store.list({ owner: 'ada' })).toEqual({ sessions: [], next: undefined });

  expect(await readdir(folder)).toEqual([]);
});
