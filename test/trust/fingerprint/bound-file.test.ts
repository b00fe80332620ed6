import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { fingerprintItem } from '../../../src/trust/fingerprint/fingerprint.js';
import { write } from '../../support/process/scratch.js';
import { makeExtension, makePlace } from '../../support/trust/place.js';

test.each([
  ['700', true],
  ['610', true],
  ['601', true],
  ['666', false],
])('for a file with the mode %s, `executable` is %s', async (mode, executable) => {
  const place = makePlace();
  write(join(place.workspaceDir, 'data'), '', Number.parseInt(mode, 8));
  const { files } = await fingerprintItem(place.hook({ command: '/bin/sh', files: ['data'] }), place.trustPlace());

  expect(files).toMatchObject([{ path: 'data', executable }]);
});

test.each([[['data/*.sh', 'data']], [['data', 'data/*.sh']]])(
  'a directory is covered completely, also beside a pattern for some of its files: %j',
  async (files) => {
    const place = makePlace();
    for (const name of ['a.sh', 'b.txt', 'deep/c.txt']) write(join(place.workspaceDir, 'data', name), name);
    const item = place.hook({ command: '/bin/sh', files });
    const found = await fingerprintItem(item, place.trustPlace());

    expect(found.files.map(({ path }) => path)).toEqual([
      ...['data', 'data/a.sh', 'data/b.txt', 'data/deep', 'data/deep/c.txt'],
    ]);
  },
);

test('the error for a file that cannot be read has the error of the system as its cause', async () => {
  const place = makePlace();
  const item = place.hook({ command: '/bin/sh', files: ['missing'] });

  await expect(fingerprintItem(item, place.trustPlace())).rejects.toMatchObject({
    problem: 'unreadable',
    cause: { code: 'ENOENT' },
  });
});

test('directories count towards the limit of files', async () => {
  const place = makePlace();
  const { item, root } = makeExtension(place);
  for (let at = 0; at < 10; at += 1) mkdirSync(join(root, 'lib', `${at}`));
  const limits = { files: 10, bytes: 1_000 };

  await expect(fingerprintItem(item, { ...place.trustPlace(), limits })).rejects.toMatchObject({
    problem: 'too-large',
  });
});

test('20 entries of directories may be looked at for each file of the limit', async () => {
  const place = makePlace();
  const names = Array.from({ length: 20 }, (_, at) => `${at}.txt`);
  const limits = { files: 1, bytes: 1_000 };
  const read = () => {
    const item = place.hook({ command: '/bin/sh', files: ['data/*.json'] });
    return fingerprintItem(item, { ...place.trustPlace(), limits });
  };
  // The directory is an entry itself.
  for (const name of names.slice(1)) write(join(place.workspaceDir, 'data', name), '');
  expect((await read()).files).toEqual([]);

  write(join(place.workspaceDir, 'data', '0.txt'), '');
  await expect(read()).rejects.toMatchObject({ problem: 'too-large' });
});

test('files may have exactly as many bytes as the limit', async () => {
  const place = makePlace();
  for (const name of ['a', 'b']) write(join(place.workspaceDir, 'data', name), 'x'.repeat(50));
  const item = place.hook({ command: '/bin/sh', files: ['data/?'] });
  const read = (bytes: number) => fingerprintItem(item, { ...place.trustPlace(), limits: { files: 2, bytes } });

  expect((await read(100)).files).toHaveLength(2);
  await expect(read(99)).rejects.toMatchObject({ problem: 'too-large' });
});

test('other tasks run while many files are read', async () => {
  const place = makePlace();
  for (let at = 0; at < 20; at += 1) write(join(place.workspaceDir, 'data', `${at}.txt`), '');
  let time = 0;
  const now = vi.spyOn(performance, 'now').mockImplementation(() => {
    time += 11;
    return time;
  });
  onTestFinished(() => now.mockRestore());
  let turns = 0;
  let isReading = true;
  const count = () => {
    turns += 1;
    if (isReading) setImmediate(count);
  };
  setImmediate(count);

  await fingerprintItem(place.hook({ command: '/bin/sh', files: ['data/?'] }), place.trustPlace());
  isReading = false;

  expect(turns).toBeGreaterThanOrEqual(20);
});

test.each([
  ['a missing file', 'gone.md'],
  ['a missing file outside', '/nowhere/gone.md'],
  ['itself', 'link'],
  ['a path below a file', 'hook.sh/gone'],
])('a link to %s is covered by its text', async (_, target) => {
  const place = makePlace();
  const { item, root } = makeExtension(place);
  symlinkSync(target, join(root, 'link'));

  const { files } = await fingerprintItem(item, place.trustPlace());

  expect(files.find(({ path }) => path === 'link')).toEqual({
    ...{ in: 'extension', path: 'link', type: 'symlink', link: target },
  });
});
