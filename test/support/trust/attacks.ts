import { copyFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { script } from '../process/scratch.js';

const EVIL = '#!/bin/sh\necho EVIL\n';

/** Ways to replace the content of a file. */
export const attacks: Readonly<Record<string, (path: string) => void>> = {
  'a rename': (path) => renameSync(script(`${path}.new`, EVIL), path),
  'a write in place': (path) => writeFileSync(path, EVIL),
  'a link': (path) => {
    const evil = script(join(dirname(path), 'evil.sh'), EVIL);
    rmSync(path);
    symlinkSync(evil, path);
  },
  'another directory': (path) => {
    const folder = dirname(path);
    script(join(`${folder}.evil`, path.slice(folder.length + 1)), EVIL);
    renameSync(folder, `${folder}.old`);
    renameSync(`${folder}.evil`, folder);
  },
  'a copy': (path) => copyFileSync(script(`${path}.new`, EVIL), path),
};
