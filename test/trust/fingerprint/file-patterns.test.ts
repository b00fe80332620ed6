import { join } from 'node:path';
import { expect, test } from 'vitest';
import { write } from '../../support/process/scratch.js';
import { makePlace } from '../../support/trust/place.js';

const FILES = [
  'a.sh',
  'b.sh',
  'a.sh.bak',
  'sh',
  '.sh',
  'lib/a.sh',
  'lib/b.txt',
  'lib/deep/a.sh',
  'libs/a.sh',
  'x/lib/a.sh',
  'x/[ab].txt',
  'x/a.txt',
];

test.each<[string, readonly string[]]>([
  ['*.sh', ['.sh', 'a.sh', 'b.sh']],
  ['?.sh', ['a.sh', 'b.sh']],
  ['lib/*.sh', ['lib/a.sh']],
  ['lib/*', ['lib/a.sh', 'lib/b.txt']],
  ['*/*.sh', ['hooks/lint.sh', 'lib/a.sh', 'libs/a.sh']],
  ['**/a.sh', ['a.sh', 'lib/a.sh', 'lib/deep/a.sh', 'libs/a.sh', 'x/lib/a.sh']],
  ['lib/**', ['lib/a.sh', 'lib/b.txt', 'lib/deep/a.sh']],
  ['**/lib/*.sh', ['lib/a.sh', 'x/lib/a.sh']],
  ['./lib/a.sh', ['lib/a.sh']],
  ['*/./a.sh', ['lib/a.sh', 'libs/a.sh']],
  ['*//a.sh', ['lib/a.sh', 'libs/a.sh']],
  ['*/[ab].txt', ['x/[ab].txt']],
  ['*.py', []],
])('the pattern %s covers exactly its matches', async (pattern, expected) => {
  const place = makePlace();
  for (const path of FILES) write(join(place.workspaceDir, path), 'x');
  const gate = place.gate();

  await gate.authorize(place.hook({ command: '/bin/sh', files: [pattern] }));

  const covered = place.asked[0]?.files.filter(({ type }) => type === 'file').map(({ path }) => path);
  expect(covered).toEqual(expected);
});

test('the files in a fingerprint are sorted by directory and path, in code-unit order', async () => {
  const place = makePlace();
  for (const path of ['z', 'B', 'a', 'é', 'a-b', 'a/c'.replace('a/', 'd/')])
    write(join(place.workspaceDir, 'data', path), 'x');
  const gate = place.gate();

  await gate.authorize(place.hook({ command: '/bin/sh', files: ['data/z', 'data/*', 'data/d/c'] }));

  const paths = place.asked[0]?.files.filter(({ type }) => type === 'file').map(({ path }) => path);
  expect(paths).toEqual(['data/B', 'data/a', 'data/a-b', 'data/d/c', 'data/z', 'data/é']);
});
