import { copyFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { script } from '../process/scratch.js';

const EVIL = '#!/bin/sh\necho EVIL\n';

/** Ways to put other bytes in the place of a file. */
export const attacks: Readonly<Record<string, (path: string) => void>> = {
  'a rename': (path) => renameSync(script(`${path}.new`, EVIL), path),
  'writing in place': (path) => writeFileSync(path, EVIL),
  'a link': (path) => {
    const evil = script(join(dirname(path), 'evil.sh'), EVIL);
    rmSync(path);
    symlinkSync(evil, path);
  },
  'a folder that is another': (path) => {
    const folder = dirname(path);
    script(join(`${folder}.evil`, path.slice(folder.length + 1)), EVIL);
    renameSync(folder, `${folder}.old`);
    renameSync(`${folder}.evil`, folder);
  },
  'a copy over it': (path) => copyFileSync(script(`${path}.new`, EVIL), path),
};
