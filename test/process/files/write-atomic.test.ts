import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeAtomic } from '../../../src/process/files/write-atomic.js';
import { temporaryFolder } from '../../support/stores/temporary-folder.js';

test('a file is replaced completely and only the user can read it, even if a crash left a draft behind', async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'state.json');
  await writeFile(path, 'old');
  await writeFile(`${path}.draft`, 'half of a');

  await writeAtomic(path, 'new');

  expect(await readFile(path, 'utf8')).toBe('new');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(['state.json']);
});

test('a failed write leaves no file behind', async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'taken', 'inner'), { recursive: true });

  await expect(writeAtomic(join(folder, 'taken'), 'new')).rejects.toThrow();

  expect(await readdir(folder)).toEqual(['taken']);
});
