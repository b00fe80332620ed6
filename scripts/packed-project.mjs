import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Packs this package and installs the tarball into a new empty project, as a user would. Returns the project directory.
 */
export function createPackedProject() {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-packed-'));
  const packed = npm(['pack', '--json', '--pack-destination', folder], root);
  const [{ filename }] = JSON.parse(packed.slice(packed.indexOf('[')));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'packed-project', private: true }));
  install([join(folder, filename)], folder);
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
