import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Packs this package into a folder. Returns the path of the tarball.
 * @param {string} folder
 */
export function pack(folder) {
  const packed = npm(['pack', '--json', '--pack-destination', folder], root);
  const [{ filename }] = JSON.parse(packed.slice(packed.indexOf('[')));
  return join(folder, filename);
}

/**
 * Installs the tarball of this package into a new empty project, as a user would. Returns the project directory.
 * @param {string} [tarball] is packed if it is missing
 */
export function createPackedProject(tarball) {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-packed-'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'packed-project', private: true }));
  install([tarball ?? pack(folder)], folder);
  return folder;
}

/**
 * @param {string[]} packages
 * @param {string} folder
 */
export function install(packages, folder) {
  npm(['install', '--prefer-offline', '--no-audit', '--no-fund', ...packages], folder);
}

/**
 * @param {string[]} args
 * @param {string} cwd
 */
function npm(args, cwd) {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}
