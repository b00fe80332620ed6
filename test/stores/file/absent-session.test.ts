import { readdir } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { FileSessionStore } from '../../../src/stores/file/file.js';
import { temporaryFolder } from '../../support/stores/temporary-folder.js';

it('leaves no file after a conflicting save to a session that does not exist', async () => {
  const folder = await temporaryFolder();
  const store = new FileSessionStore({ folder });

  expect(await store.save('absent', { keep: 0, append: [{ role: 'user', content: 'Hello' }] }, 3)).toBe(undefined);

  expect(await readdir(folder)).toEqual([]);
});
