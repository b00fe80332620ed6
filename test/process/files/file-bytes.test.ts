import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readBytes } from '../../../src/process/files/file-bytes.js';

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-bytes-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test.each<[string, (folder: string) => string]>([
  ['a missing file', (folder) => join(folder, 'a')],
  ['a file in a missing directory', (folder) => join(folder, 'a/b/c')],
])('%s is absent', async (_title, make) => {
  expect(await readBytes(make(scratch()), 10)).toMatchObject({ isAbsent: true });
});

test.each<[string, string, (folder: string) => void]>([
  ['a link without a target', 'a', (folder) => symlinkSync('gone', join(folder, 'a'))],
  ['a file below a link without a target', 'a/b', (folder) => symlinkSync('gone', join(folder, 'a'))],
  [
    'a link through a link without a target',
    'b',
    (folder) => {
      symlinkSync('gone', join(folder, 'a'));
      symlinkSync('a/x', join(folder, 'b'));
    },
  ],
  ['a file below a file', 'a/b', (folder) => writeFileSync(join(folder, 'a'), '')],
  ['a loop of links', 'a', (folder) => symlinkSync('a', join(folder, 'a'))],
  ['a directory', 'a', (folder) => mkdirSync(join(folder, 'a'))],
])('%s is a problem, and not absent', async (_title, path, make) => {
  const folder = scratch();
  make(folder);

  expect(await readBytes(join(folder, path), 10)).toMatchObject({ isAbsent: false, problem: expect.any(String) });
});
