import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Folder, OutsideFolderError } from '../../examples/demo/folder.js';

describe("the demo's folder", () => {
  let place = '';
  let folder: Folder;

  beforeAll(async () => {
    place = mkdtempSync(join(tmpdir(), 'keelson-folder-'));
    mkdirSync(join(place, 'inside/deep'), { recursive: true });
    mkdirSync(join(place, 'inside-out'));
    writeFileSync(join(place, 'secret.txt'), 'MIT secret');
    writeFileSync(join(place, 'inside/note.txt'), 'one MIT\nLIMIT\n');
    symlinkSync(join(place, 'secret.txt'), join(place, 'inside/link.txt'));
    symlinkSync(place, join(place, 'inside/deep/up'));
    symlinkSync('note.txt', join(place, 'inside/alias.txt'));
    folder = (await Folder.open(join(place, 'inside'))) as Folder;
  });
  afterAll(() => rmSync(place, { recursive: true }));

  test.each([
    '..',
    '../secret.txt',
    '../inside-out',
    '/etc/passwd',
    'link.txt',
    'deep/up/secret.txt',
    'deep/../..',
    '../missing',
  ])('refuses the outside path %s', async (path) => {
    expect(await folder.holds(path)).toBe(false);
    await expect(folder.read(path)).rejects.toThrow(OutsideFolderError);
    await expect(folder.list(path)).rejects.toThrow(OutsideFolderError);
  });

  test('reads files inside, also through a link to a file inside', async () => {
    expect(await folder.holds('note.txt')).toBe(true);
    expect(await folder.read('deep/../note.txt')).toBe('one MIT\nLIMIT\n');
    expect(await folder.read('alias.txt')).toBe('one MIT\nLIMIT\n');
    expect(await folder.list('.')).toEqual(['alias.txt', 'deep/', 'link.txt', 'note.txt']);
  });

  test('does not read a folder or a missing file', async () => {
    await expect(folder.read('deep')).rejects.toThrow('"deep" is not a regular file.');
    await expect(folder.read('missing.txt')).rejects.toThrow('ENOENT');
    expect(await Folder.open(join(place, 'missing'))).toBeUndefined();
    expect(await Folder.open(join(place, 'secret.txt'))).toBeUndefined();
  });

  test('finds whole words, and follows no link out of the folder', async () => {
    expect(await folder.search('MIT')).toEqual([{ file: 'note.txt', line: 1, text: 'one MIT' }]);
    expect(await folder.search('one (MIT')).toEqual([]);
  });
});
