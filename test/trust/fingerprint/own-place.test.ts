import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { leadsByOwnPlace } from '../../../src/trust/fingerprint/own-place.js';
import { scratchFolder, write } from '../../support/process/scratch.js';
import { attempt, makePlace } from '../../support/trust/place.js';

const hasProc = existsSync('/proc/self/cwd');
if (!hasProc) console.log('there is no /proc: links into it are not followed');

test.skipIf(!hasProc && !process.env.CI)(
  'a path that leads by the folder of the process is found, whatever links',
  () => {
    const folder = scratchFolder();
    const link = (name: string, target: string) => {
      symlinkSync(target, join(folder, name));
      return `${folder}/${name}`;
    };
    mkdirSync(join(folder, 'sub'));

    expect(leadsByOwnPlace(`${link('direct', '/proc/self/cwd')}/x.sh`)).toBe(true);
    expect(leadsByOwnPlace(`${link('second', 'sub/../direct')}/x.sh`)).toBe(true);
    expect(leadsByOwnPlace(`${link('thread', '/proc/thread-self/cwd/.')}/x.sh`)).toBe(true);
    expect(leadsByOwnPlace(`${link('up', '/dev/fd/../cwd')}/x.sh`)).toBe(true);
    expect(leadsByOwnPlace(`${link('parent', '/proc')}/self/cwd`)).toBe(true);
    expect(leadsByOwnPlace(`${link('other', 'sub')}/../x.sh`)).toBe(false);
    expect(leadsByOwnPlace(link('round', 'round'))).toBe(false);
  },
);

test.skipIf(!hasProc && !process.env.CI)(
  'a script that is another one to the program than to the gate is refused',
  async () => {
    const place = makePlace();
    write(join(place.workspaceDir, 'x.sh'), 'echo good\n');
    write(join(place.workspaceDir, 'sub', 'x.sh'), 'echo evil\n');
    symlinkSync('/proc/self/cwd', join(place.workspaceDir, 'sub', 'link'));
    const before = process.cwd();
    process.chdir(place.workspaceDir);
    try {
      expect(await attempt(place.gate(), place.hook({ command: 'sh', args: ['link/x.sh'], cwd: 'sub' }))).toBe(
        'outside',
      );
    } finally {
      process.chdir(before);
    }
  },
);

test.skipIf(!hasProc && !process.env.CI).each([
  ['link/x.sh', 'link', '/proc/self/cwd'],
  ['p/self/cwd/x.sh', 'p', '/proc'],
  ['link', 'link', '/proc/self/cwd'],
])('it is refused also where nothing lies there for the gate: %s', async (named, name, target) => {
  const place = makePlace();
  write(join(place.workspaceDir, 'x.sh'), 'echo evil\n');
  symlinkSync(target, join(place.workspaceDir, name));

  expect(await attempt(place.gate(), place.hook({ command: 'sh', args: [named] }))).toBe('outside');
});
