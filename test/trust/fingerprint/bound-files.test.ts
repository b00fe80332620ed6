import { appendFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { digestOf, fingerprintItem } from '../../../src/trust/fingerprint/fingerprint.js';
import { script, write } from '../../support/process/scratch.js';
import { makeExtension, makePlace } from '../../support/trust/place.js';

const NOTE = 'This command line is not plain; the files it runs cannot all be listed.';
const LINE = { shell: true, command: 'cd .app && ./run' } as const;

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
  script(join(place.workspaceDir, '.app', 'run'), '#!/bin/sh\n');
  script(join(place.workspaceDir, '.app', 'other'), '#!/bin/sh\n');
  symlinkSync('.', join(place.workspaceDir, '.app', 'again'));
  const { files, unbound } = await fingerprintItem(
    place.hook({ shell: true, command: 'cd .app/again && ./run' }),
    place.trustPlace(),
  );

  expect(files.map(({ path }) => path)).toEqual(['.app/run']);
  expect(unbound).toEqual(['.app/again']);
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
  const place = makePlace();
  const [log, settings] = ['log.txt', 'settings.json'].map((name) => join(place.workspaceDir, '.app', name)) as [
    string,
    string,
  ];
  const item = place.hook({ shell: true, command: 'cat >> .app/log.txt; echo {} > .app/settings.json' });
  write(log, 'one');
  write(settings, '{}');
  await place.gate().authorize(item);
  appendFileSync(log, 'two');
  write(settings, '{"a":1}');
  await place.gate().authorize(item);

  expect(place.asked.map(({ why }) => why)).toEqual(['new']);
});

test('folders may be named, and are told of: what lies in them is not bound', async () => {
  const place = makePlace();
  mkdirSync(join(place.workspaceDir, 'src'));
  const { unbound } = await fingerprintItem(place.hook({ args: ['src', '.'] }), place.trustPlace());

  expect(unbound).toEqual(['.', 'src']);
});
