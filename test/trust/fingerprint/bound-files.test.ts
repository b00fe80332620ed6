import { appendFileSync, chmodSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { digestOf, fingerprintItem } from '../../../src/trust/fingerprint/fingerprint.js';
import { script, write } from '../../support/process/scratch.js';
import { makeExtension, makePlace } from '../../support/trust/place.js';

const NOTE = 'This command line uses shell syntax, so some files that it runs may not be listed.';
const LINE = { shell: true, command: 'cd .app && ./run' } as const;

/** Creates a workspace with its definition in `.app`, and computes the digest of a hook with shell syntax. */
function makeDefinitions(more: object = LINE) {
  const place = makePlace();
  const folder = join(place.workspaceDir, '.app');
  write(join(folder, 'log.txt'), 'one');
  write(join(folder, 'deep', 'settings.json'), '{}');
  script(join(folder, 'deep', 'run'), '#!/bin/sh\n');
  return { place, folder, digest: () => digestOf(place.hook(more), place.trustPlace()) };
}

describe('the digest of a line with shell syntax covers scripts beside its definition:', () => {
  test.each<[string, (folder: string) => unknown]>([
    ['a changed file with an execute bit', (folder) => appendFileSync(join(folder, 'deep', 'run'), '#')],
    ['a new file with an execute bit', (folder) => script(join(folder, 'new'), 'x')],
    ['a new file with #!', (folder) => write(join(folder, 'new'), '#!/bin/sh\n')],
    ['a new file with the suffix of a script', (folder) => write(join(folder, 'deep', 'new.mjs'), 'x')],
    ['a data file made executable', (folder) => chmodSync(join(folder, 'log.txt'), 0o755)],
    ['a data file made executable for the group', (folder) => chmodSync(join(folder, 'log.txt'), 0o654)],
    ['a data file made executable for others', (folder) => chmodSync(join(folder, 'log.txt'), 0o645)],
    ['a link to a script', (folder) => symlinkSync('deep/run', join(folder, 'new'))],
  ])('C4: %s', async (_what, change) => {
    const { folder, digest } = makeDefinitions();
    const before = await digest();
    change(folder);

    expect(await digest()).not.toBe(before);
  });

  test.each<[string, (folder: string) => unknown]>([
    ['a log', (folder) => appendFileSync(join(folder, 'log.txt'), 'two')],
    ['settings', (folder) => write(join(folder, 'deep', 'settings.json'), '{"a":1}')],
    ['a log that others may write', (folder) => chmodSync(join(folder, 'log.txt'), 0o666)],
    ['its own definition', (folder) => write(join(folder, 'hooks.json'), '{"a":1}')],
    ['a new directory with data', (folder) => write(join(folder, 'logs', 'a.jsonl'), '{}')],
    ['a link with a missing target', (folder) => symlinkSync('nowhere', join(folder, 'link'))],
    ['a cycle of links', (folder) => symlinkSync('link', join(folder, 'link'))],
    ['a script in another directory', (folder) => script(join(dirname(folder), 'other', 'new'), '#!/bin/sh\n')],
  ])('but not %s', async (_what, change) => {
    const { folder, digest } = makeDefinitions();
    const before = await digest();
    change(folder);

    expect(await digest()).toBe(before);
  });

  test('but not for a line without shell syntax', async () => {
    const { folder, digest } = makeDefinitions({ command: 'sh', args: ['hooks/lint.sh'] });
    const before = await digest();
    script(join(folder, 'new'), '#!/bin/sh\n');

    expect(await digest()).toBe(before);
  });
});

test('a directory of the workspace may have the name of a directory of processes', async () => {
  const place = makePlace();
  const paths = ['proc/run.sh', 'dev/fd/run.sh'];
  for (const path of paths) script(join(place.workspaceDir, path), '#!/bin/sh\n');

  const { scripts } = await fingerprintItem(place.hook({ command: 'sh', args: paths }), place.trustPlace());

  expect(Object.keys(scripts).sort()).toEqual(paths.sort());
});

test('a definition in the workspace directory itself adds only the named files', async () => {
  const place = makePlace();
  const source = write(join(place.workspaceDir, 'hooks.json'), '{}');
  script(join(place.workspaceDir, 'other.sh'), '#!/bin/sh\n');
  const { files } = await fingerprintItem(
    place.hook({ source, shell: true, command: 'cd . && sh hooks/lint.sh' }),
    place.trustPlace(),
  );

  expect(files.map(({ path }) => path)).toEqual(['hooks/lint.sh']);
});

test('a definition outside of the workspace or in a missing directory adds no files', async () => {
  const place = makePlace();
  script(join(place.stateDir, 'run.sh'), '#!/bin/sh\n');
  for (const source of [join(place.stateDir, 'hooks.json'), join(place.workspaceDir, 'gone', 'hooks.json')]) {
    expect((await fingerprintItem(place.hook({ source, ...LINE }), place.trustPlace())).files).toEqual([]);
  }
});

describe('a word is resolved against each directory that another word names:', () => {
  test.each<[string, object]>([
    ['in `cd`', { shell: true, command: 'cd .app && ./run' }],
    ['in two `cd` commands', { shell: true, command: 'cd hooks; cd ../.app && ./run' }],
    ['with `..` in a subdirectory', { shell: true, command: 'cd .app && cd deep && ../run' }],
    ['in the value of an option', { command: 'env', args: ['-C', '.app', './run'] }],
    ['through a link', { shell: true, command: 'cd linked && ./run' }],
  ])('C4: %s', async (_what, more) => {
    const place = makePlace();
    const path = script(join(place.workspaceDir, '.app', 'run'), '#!/bin/sh\n');
    mkdirSync(join(place.workspaceDir, '.app', 'deep'));
    symlinkSync('.app', join(place.workspaceDir, 'linked'));
    const digest = () => digestOf(place.hook(more), place.trustPlace());
    const before = await digest();
    appendFileSync(path, '#');

    expect(await digest()).not.toBe(before);
  });
});

test('other files in a named directory are left out, even if a link leads back to it', async () => {
  const place = makePlace();
  script(join(place.workspaceDir, 'tools', 'run'), '#!/bin/sh\n');
  script(join(place.workspaceDir, 'tools', 'other'), '#!/bin/sh\n');
  symlinkSync('.', join(place.workspaceDir, 'tools', 'again'));
  const { files, unbound } = await fingerprintItem(
    place.hook({ shell: true, command: 'cd tools/again && ./run' }),
    place.trustPlace(),
  );

  expect(files.map(({ path }) => path)).toEqual(['tools/run']);
  expect(unbound).toEqual(['tools/again']);
});

test('a definition in an extension package adds no files, because the package is covered already', async () => {
  const place = makePlace();
  const { item } = makeExtension(place);
  const { files, isPlain } = await fingerprintItem({ ...item, ...LINE }, place.trustPlace());

  expect([isPlain, new Set(files.map((file) => file.in))]).toEqual([false, new Set(['extension'])]);
});

test('the approval request has a note about shell syntax', async () => {
  const place = makePlace();
  await place.gate().authorize(place.hook(LINE));
  await place.gate().authorize(place.hook({ name: 'plain' }));

  expect(place.asked.map(({ note }) => note)).toEqual([NOTE, undefined]);
});

test('a hook that changes its own log and settings needs one approval', async () => {
  const { place, folder } = makeDefinitions();
  const item = place.hook({ shell: true, command: 'cat >> .app/log.txt; echo {} > .app/deep/settings.json' });
  await place.gate().authorize(item);
  appendFileSync(join(folder, 'log.txt'), 'two');
  write(join(folder, 'deep', 'settings.json'), '{"a":1}');
  await place.gate().authorize(item);

  expect(place.asked.map(({ why }) => why)).toEqual(['new']);
});

test('a link out of the workspace beside the definition is refused', async () => {
  const { place, folder, digest } = makeDefinitions();
  symlinkSync(script(join(place.root, 'outside.sh'), '#!/bin/sh\n'), join(folder, 'new.sh'));

  await expect(digest()).rejects.toMatchObject({ problem: 'outside' });
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

test('a command line may name 10,000 paths, and no more', async () => {
  const place = makePlace();
  // The program is one of the paths.
  const args = Array.from({ length: 9_999 }, (_, at) => `a${at}`);
  const read = (more: readonly string[]) =>
    fingerprintItem(place.hook({ args: [...args, ...more] }), place.trustPlace());

  expect((await read([])).files).toHaveLength(1);
  await expect(read(['b'])).rejects.toMatchObject({ problem: 'too-large' });
});

test.runIf(process.platform === 'linux')('reading files leaves no descriptor open', async () => {
  const place = makePlace();
  for (let at = 0; at < 20; at++) write(join(place.workspaceDir, 'lib', `${at}.txt`), `${at}`);
  const open = () => readdirSync('/proc/self/fd').length;
  const digest = () => digestOf(place.hook({ files: ['lib'] }), place.trustPlace());
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

test.each<[string, object]>([
  ['in an argument', { command: 'sh', args: [`\${extensionPath}/../secret.sh`] }],
  ['in a line', { shell: true, command: `sh "\${extensionPath}/../secret.sh"` }],
  ['in a variable of the hook', { shell: true, command: 'sh $HERE/../secret.sh', env: { HERE: `\${extensionPath}` } }],
])(
  'a path that leaves an extension package is refused behind the variable of its directory: %s',
  async (_where, more) => {
    const place = makePlace();
    const { item, root } = makeExtension(place);
    script(join(root, '..', 'secret.sh'), '#!/bin/sh\n');

    await expect(digestOf({ ...item, ...more }, place.trustPlace())).rejects.toMatchObject({ problem: 'outside' });
  },
);

test('the variable of an extension package is an ordinary word in a hook without a package', async () => {
  const place = makePlace();
  script(join(place.workspaceDir, 'undefined', 'run.sh'), '#!/bin/sh\n');
  const item = place.hook({ command: 'sh', args: ['$HERE/run.sh'], env: { HERE: `\${extensionPath}` } });

  expect((await fingerprintItem(item, place.trustPlace())).scripts).toEqual({});
});
