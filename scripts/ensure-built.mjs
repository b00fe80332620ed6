import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from './build.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const inputs = ['src', 'package.json', 'tsconfig.json', 'tsup.config.ts', 'scripts/build.mjs'];

/** Builds `dist` if it is missing or older than its sources. */
export function ensureBuilt() {
  const built = Math.min(modifiedAt('dist/index.js'), modifiedAt('dist/index.cjs'), modifiedAt('dist/index.d.ts'));
  if (built > Math.max(...inputs.flatMap(filesIn).map(modifiedAt))) return;
  build('--silent');
}

/** @param {string} path */
function filesIn(path) {
  if (!statSync(join(root, path)).isDirectory()) return [path];
  return readdirSync(join(root, path), { recursive: true }).map((name) => join(path, String(name)));
}

/** @param {string} path */
function modifiedAt(path) {
  return statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) ensureBuilt();
