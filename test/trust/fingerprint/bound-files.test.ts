import { appendFileSync, chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { digestOf, fingerprintItem } from '../../../src/trust/fingerprint/fingerprint.js';
import { script, write } from '../../support/process/scratch.js';
import { makeExtension, makePlace } from '../../support/trust/place.js';

const NOTE = 'This command line uses shell syntax, so some files that it runs may not be listed.';
const LINE = { shell: true, command: 'cd .app && ./run' } as const;

/** A workspace whose definition lies in `.app`, and the digest of a hook whose line is not plain. */
function makeDefinitions(more: object = LINE) {
  const place = makePlace();
  const folder = join(place.workspaceDir, '.app');
  write(join(folder, 'log.txt'), 'one');
  write(join(folder, 'deep', 'settings.json'), '{}');
  script(join(folder, 'deep', 'run'), '#!/bin/sh\n');
  return { place, folder, digest: () => digestOf(place.hook(more), place.trustPlace()) };
}

describe('a line that is not plain covers the scripts in the folder of its definition', () => {
  test.each<[string, (folder: string) => unknown]>([
    ['one with an execute bit', (folder) => appendFileSync(join(folder, 'deep', 'run'), '#')],
    ['a new one with an execute bit', (folder) => script(join(folder, 'new'), 'x')],
    ['a new one with #!', (folder) => write(join(folder, 'new'), '#!/bin/sh\n')],
    ['a new one with the suffix of a script', (folder) => write(join(folder, 'deep', 'new.mjs'), 'x')],
    ['data that became a program', (folder) => chmodSync(join(folder, 'log.txt'), 0o755)],
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
    ['its own definition', (folder) => write(join(folder, 'hooks.json'), '{"a":1}')],
    ['a new folder with data', (folder) => write(join(folder, 'logs', 'a.jsonl'), '{}')],
    ['a link that leads nowhere', (folder) => symlinkSync('nowhere', join(folder, 'link'))],
    ['links in a circle', (folder) => symlinkSync('link', join(folder, 'link'))],
    ['a script elsewhere', (folder) => script(join(dirname(folder), 'other', 'new'), '#!/bin/sh\n')],
  ])('but not %s', async (_what, change) => {
    const { folder, digest } = makeDefinitions();
    const before = await digest();
    change(folder);

    expect(await digest()).toBe(before);
  });

  test('and a plain line does not', async () => {
    const { folder, digest } = makeDefinitions({ command: 'sh', args: ['hooks/lint.sh'] });
    const before = await digest();
    script(join(folder, 'new'), '#!/bin/sh\n');

    expect(await digest()).toBe(before);
  });
});

test('the folder is never the workspace itself: then only the files that are named count', async () => {
  const place = makePlace();
  const source = write(join(place.workspaceDir, 'hooks.json'), '{}');
  const { files } = await fingerprintItem(
    place.hook({ source, shell: true, command: 'cd . && sh hooks/lint.sh' }),
    place.trustPlace(),
  );

  expect(files.map(({ path }) => path)).toEqual(['hooks/lint.sh']);
});

test('a definition outside of the workspace adds no folder, nor does one that is gone', async () => {
  const place = makePlace();
  script(join(place.stateDir, 'run.sh'), '#!/bin/sh\n');
  for (const source of [join(place.stateDir, 'hooks.json'), join(place.workspaceDir, 'gone', 'hooks.json')]) {
    expect((await fingerprintItem(place.hook({ source, ...LINE }), place.trustPlace())).files).toEqual([]);
  }
});

describe('a word is a path from each folder that another word names', () => {
  test.each<[string, object]>([
    ['to change to', { shell: true, command: 'cd .app && ./run' }],
    ['to change to, step by step', { shell: true, command: 'cd hooks; cd ../.app && ./run' }],
    ['that lies in another one', { shell: true, command: 'cd .app && cd deep && ../run' }],
    ['as the value of an option', { command: 'env', args: ['-C', '.app', './run'] }],
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

test('what else lies in such a folder is not bound, also where a link leads back to it', async () => {
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

test('an extension is bound whole, and once: its folder of definitions adds nothing', async () => {
  const place = makePlace();
  const { item } = makeExtension(place);
  const { files, isPlain } = await fingerprintItem({ ...item, ...LINE }, place.trustPlace());

  expect([isPlain, new Set(files.map((file) => file.in))]).toEqual([false, new Set(['extension'])]);
});

test('the question says in words that a line is not plain', async () => {
  const place = makePlace();
  await place.gate().authorize(place.hook(LINE));
  await place.gate().authorize(place.hook({ name: 'plain' }));

  expect(place.asked.map(({ note }) => note)).toEqual([NOTE, undefined]);
});

test('a hook that writes its own log and settings is asked about once', async () => {
  const { place, folder } = makeDefinitions();
  const item = place.hook({ shell: true, command: 'cat >> .app/log.txt; echo {} > .app/deep/settings.json' });
  await place.gate().authorize(item);
  appendFileSync(join(folder, 'log.txt'), 'two');
  write(join(folder, 'deep', 'settings.json'), '{"a":1}');
  await place.gate().authorize(item);

  expect(place.asked.map(({ why }) => why)).toEqual(['new']);
});

test('what lies in the way of the folder is refused: a link out of the workspace', async () => {
  const { place, folder, digest } = makeDefinitions();
  symlinkSync(script(join(place.root, 'outside.sh'), '#!/bin/sh\n'), join(folder, 'new.sh'));

  await expect(digest()).rejects.toMatchObject({ problem: 'outside' });
});

test('folders may be named, and are told of: what lies in them is not bound', async () => {
  const place = makePlace();
  mkdirSync(join(place.workspaceDir, 'src'));
  const { unbound } = await fingerprintItem(place.hook({ args: ['src', '.'] }), place.trustPlace());

  expect(unbound).toEqual(['.', 'src']);
});
