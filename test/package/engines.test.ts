import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { root } from '../support/docs/doc-files.js';

const folder = mkdtempSync(join(tmpdir(), 'keelson-engines-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Returns the packages that `npm ci` warns about, because this Node is too old for them. */
function unsupportedPackages(): string[] {
  const args = ['ci', '--dry-run', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=warn'];
  const { status, stderr } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8' });
  expect(status).toBe(0);
  return [...stderr.matchAll(/EBADENGINE +package: '([^']+)'/g)].map(([, name = '']) => name);
}

test('`npm ci` warns about no package that needs a newer Node', () => {
  for (const name of ['package.json', 'package-lock.json']) copyFileSync(root + name, join(folder, name));

  expect(unsupportedPackages()).toEqual([]);
});

test('a package in the lock file that needs a newer Node is found', () => {
  const lock = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8'));
  const zod = lock.packages['node_modules/zod'];
  zod.engines = { node: '>=99' };
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));

  expect(unsupportedPackages()).toEqual([`zod@${zod.version}`]);
});
