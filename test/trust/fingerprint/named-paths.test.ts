import { mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { digestOf, fingerprintItem } from '../../../src/trust/fingerprint/fingerprint.js';
import { NamedPaths } from '../../../src/trust/fingerprint/named-paths.js';
import { write } from '../../support/process/scratch.js';
import { makePlace } from '../../support/trust/place.js';

const many = (count: number) => Array.from({ length: count }, (_, at) => `many/${at}`);

test('a name is looked for in a folder that is named behind many others', async () => {
  const place = makePlace();
  for (const folder of many(60)) mkdirSync(join(place.workspaceDir, folder), { recursive: true });
  const command = `ls ${many(60).join(' ')}; cd hooks && sh lint.sh`;

  const { scripts } = await fingerprintItem(place.hook({ shell: true, command }), place.trustPlace());
  expect(Object.keys(scripts)).toEqual(['hooks/lint.sh']);
});

test('names that would have to be looked for in very many folders are refused', async () => {
  const place = makePlace();
  for (const folder of many(300)) mkdirSync(join(place.workspaceDir, folder), { recursive: true });

  await expect(digestOf(place.hook({ args: many(300) }), place.trustPlace())).rejects.toMatchObject({
    problem: 'too-large',
  });
});

test('what git writes at each step is no change beside a look whether there is a repository', async () => {
  const place = makePlace();
  const writeState = (text: string) => {
    for (const name of ['HEAD', 'index']) write(join(place.workspaceDir, '.git', name), text);
  };
  const outside = place.hook({ shell: true, command: '[ -d .git ] && git diff HEAD; cat index' });
  const inside = place.hook({ cwd: '.git', command: 'sh', args: ['HEAD'] });
  const digests = () => Promise.all([outside, inside].map((item) => digestOf(item, place.trustPlace())));
  writeState('one');
  const [before, from] = await digests();
  writeState('two');
  const [after, to] = await digests();

  expect(after).toBe(before);
  expect(to).not.toBe(from);
});

test('a name is looked for by every way to write it that a disk may take', () => {
  const { workspaceDir: real } = makePlace();
  write(join(real, 'script.sh'), '');
  const around = { in: 'workspace', named: real, real } as const;
  const places = { around, root: undefined, copy: undefined, cwd: real, limits: { files: 1, bytes: 1 } };
  const paths = new NamedPaths(places, real);
  paths.add(['SCRIPT.sh', '\u017fcript.sh', 'other.sh']);

  const names = [...paths.list].map((path) => relative(real, path)).filter((name) => !name.includes('/'));
  expect(names).toEqual(['SCRIPT.sh', '\u017fcript.sh']);
});
