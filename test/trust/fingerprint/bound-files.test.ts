import { appendFileSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { TrustItem } from 'keelson/trust';
import { describe, expect, test } from 'vitest';
import { fingerprintItem } from '../../../src/trust/fingerprint/fingerprint.js';
import { growth } from '../../support/growth.js';
import { script, write } from '../../support/process/scratch.js';
import { makePlace, type Place } from '../../support/trust/place.js';

/** The files that a hook covers, apart from the script of `place`. */
async function covered(place: Place, more: Partial<TrustItem>): Promise<readonly string[]> {
  const { scripts } = await fingerprintItem(place.hook(more), place.trustPlace());
  return Object.keys(scripts).filter((path) => path !== 'hooks/lint.sh');
}

describe('a file that a plain word names is covered:', () => {
  test.each<[string, Partial<TrustItem>]>([
    ['an argument', { command: 'sh', args: ['.app/run'] }],
    ['a word of a line', { shell: true, command: 'cd src && sh .app/run | cat' }],
    ['in quotes', { shell: true, command: `sh ".app"/'run'` }],
    ['with a project variable', { shell: true, command: 'sh "$APP_DIR"/run', env: { APP_DIR: '.app' } }],
    ['with a default', { shell: true, command: `sh "\${APP_DIR:-.}/run"`, env: { APP_DIR: '.app' } }],
    ['a word of an argument', { command: 'sh', args: ['-c', 'exec .app/run'] }],
    ['the default of a server', { kind: 'mcp-server', command: 'sh', args: [`\${NONE:-.app}/run`] }],
    ['behind an unset variable of a server', { kind: 'mcp-server', command: 'sh', args: [`\${NONE}.app/run`] }],
    ['of a server in the workspace', { kind: 'mcp-server', command: 'sh', args: [`\${workspaceFolder}/.app/run`] }],
  ])('C4: %s', async (_what, more) => {
    const place = makePlace();
    script(join(place.workspaceDir, '.app', 'run'), '#!/bin/sh\n');

    expect(await covered(place, more)).toEqual(['.app/run']);
  });

  test('also with a blank in quotes, or as a whole argument', async () => {
    const place = makePlace();
    script(join(place.workspaceDir, 'my hooks', 'run'), '#!/bin/sh\n');

    expect(await covered(place, { shell: true, command: 'sh "my hooks/run"' })).toEqual(['my hooks/run']);
    expect(await covered(place, { command: 'sh', args: ['my hooks/run'] })).toEqual(['my hooks/run']);
  });
});

test.each<[string, Partial<TrustItem>]>([
  ['from a directory of `cd`', { shell: true, command: 'cd .app && ./run' }],
  ['beside an operator', { shell: true, command: 'true;.app/run' }],
  ['in the value of an option', { command: 'sh', args: ['--rcfile=.app/run'] }],
  ['behind an unknown variable', { shell: true, command: 'sh $NONE.app/run' }],
  ['that output is redirected to', { shell: true, command: 'date > .app/run; date 2>> ".app/run"; date &> .app/run' }],
])('no other file is guessed from the syntax of a shell: %s', async (_what, more) => {
  const place = makePlace();
  script(join(place.workspaceDir, '.app', 'run'), '#!/bin/sh\n');

  expect(await covered(place, more)).toEqual([]);
});

test('a command line has at most 131,072 characters, arguments included', async () => {
  const place = makePlace();
  const read = (command: string) => covered(place, { command, args: ['x'.repeat(65_536), 'y'.repeat(65_534)] });

  expect(await read('sh')).toEqual([]);
  await expect(read('cat')).rejects.toMatchObject({ problem: 'too-large' });
});

test.each(['"', "'", '$(', '${', '${A:-', ' "', '>', "> '"])(
  'a line designed to be slow is split in linear time: %j',
  async (piece) => {
    const place = makePlace();
    const item = (size: number) => place.hook({ shell: true, command: piece.repeat(size / piece.length) });

    expect(await growth(4_096, (size) => () => fingerprintItem(item(size), place.trustPlace()))).toBeLessThan(100);
  },
);

test('a directory of the workspace may have the name of a directory of processes', async () => {
  const place = makePlace();
  const paths = ['proc/run.sh', 'dev/fd/run.sh'];
  for (const path of paths) script(join(place.workspaceDir, path), '#!/bin/sh\n');

  const { scripts } = await fingerprintItem(place.hook({ command: 'sh', args: paths }), place.trustPlace());

  expect(Object.keys(scripts).sort()).toEqual(paths.sort());
});

test('a hook that changes its own log needs one approval, and its question says what is not covered', async () => {
  const place = makePlace();
  const log = write(join(place.workspaceDir, '.app', 'log.txt'), 'one');
  const item = place.hook({ shell: true, command: 'cat >> .app/log.txt' });
  await place.gate().authorize(item);
  appendFileSync(log, 'two');
  await place.gate().authorize(item);
  await place.gate().authorize(place.hook({ name: 'settings', kind: 'settings', command: undefined }));

  expect(place.asked.map(({ why, note }) => [why, note?.includes('names literally')])).toEqual([
    ['new', true],
    ['new', undefined],
  ]);
});

test('named directories are listed in the request, and their content is not covered', async () => {
  const place = makePlace();
  mkdirSync(join(place.workspaceDir, 'src'));
  const { unbound } = await fingerprintItem(place.hook({ args: ['src', '.'] }), place.trustPlace());

  expect(unbound).toEqual(['.', 'src']);
});

test('an empty argument names no file and no directory', async () => {
  const place = makePlace();
  const { unbound, files } = await fingerprintItem(place.hook({ args: ['', ''] }), place.trustPlace());

  expect([unbound, files.map(({ path }) => path)]).toEqual([[], ['hooks/lint.sh']]);
});

test('a script whose name has 255 bytes, the longest possible, is covered', async () => {
  const place = makePlace();
  const name = `${'a'.repeat(252)}.sh`;
  script(join(place.workspaceDir, name), '#!/bin/sh\n');
  const { scripts } = await fingerprintItem(place.hook({ command: 'sh', args: [name] }), place.trustPlace());

  expect(Object.keys(scripts)).toEqual([name]);
});

test('a word of more than 255 bytes is too long for a file name, and is ignored', async () => {
  const place = makePlace();
  const { scripts } = await fingerprintItem(place.hook({ args: ['a'.repeat(256)] }), place.trustPlace());

  expect(Object.keys(scripts)).toEqual(['hooks/lint.sh']);
});

test.runIf(process.platform === 'linux')('reading files leaves no descriptor open', async () => {
  const place = makePlace();
  for (let at = 0; at < 20; at++) write(join(place.workspaceDir, 'lib', `${at}.txt`), `${at}`);
  const open = () => readdirSync('/proc/self/fd').length;
  const digest = async () => (await fingerprintItem(place.hook({ files: ['lib'] }), place.trustPlace())).digest;
  await digest();
  const before = open();
  for (let turn = 0; turn < 5; turn++) await digest();

  expect(open()).toBeLessThan(before + 20);
});

test('a directory with many links to itself is read once', async () => {
  const place = makePlace();
  const folder = join(place.workspaceDir, 'lib');
  for (let at = 0; at < 100; at++) write(join(folder, `${at}.txt`), '');
  for (let at = 0; at < 100; at++) symlinkSync('.', join(folder, `link-${at}`));
  const limits = { files: 300, bytes: 1_000 };
  const { files } = await fingerprintItem(place.hook({ files: ['lib'] }), { ...place.trustPlace(), limits });

  expect(files).toHaveLength(202);
});

test('the variable of an extension package is an ordinary word in a hook without a package', async () => {
  const place = makePlace();
  script(join(place.workspaceDir, 'undefined', 'run.sh'), '#!/bin/sh\n');
  const item = place.hook({ command: 'sh', args: ['$HERE/run.sh'], env: { HERE: `\${extensionPath}` } });

  expect((await fingerprintItem(item, place.trustPlace())).scripts).toEqual({});
});
