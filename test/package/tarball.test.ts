import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readEntries } from '../../scripts/entries.mjs';
import { createPackedProject } from '../../scripts/packed-project.mjs';

const modules = fileURLToPath(new URL('../../node_modules', import.meta.url));
const specifiers = readEntries().map(({ specifier }) => specifier);
const withoutPeers = specifiers.filter((name) => !['keelson/openai', 'keelson/otel'].includes(name));
const { peerDependencies } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
const peers = Object.keys(peerDependencies);
let project = '';

beforeAll(() => {
  project = createPackedProject();
});

afterAll(() => {
  rmSync(project, { recursive: true, force: true });
});

function node(...args: string[]): string {
  return execFileSync(process.execPath, args, { cwd: project, encoding: 'utf8' });
}

/** Makes a client that the project did not install available, as if it had. */
function link(name: string): void {
  const path = join(project, 'node_modules', name);
  mkdirSync(join(path, '..'), { recursive: true });
  if (!existsSync(path)) symlinkSync(join(modules, name), path);
}

test('the tarball holds the build and the few files beside it', () => {
  const files = readdirSync(join(project, 'node_modules/keelson')).sort();

  expect(files).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'dist', 'package.json']);
});

test('an empty project that installs it gets it and its three dependencies', () => {
  const installed = readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.'));

  expect(installed.sort()).toEqual(['@cfworker', 'keelson', 'p-timeout', 'zod']);
});

test.each(withoutPeers)('%s gives the same names by import and by require, without any optional package', (name) => {
  const imported = node('--input-type=module', '-e', `console.log(Object.keys(await import('${name}')).sort().join())`);
  const required = node('-e', `console.log(Object.keys(require('${name}')).sort().join())`);

  expect(imported.length).toBeGreaterThan(1);
  expect(required).toBe(imported);
});

test('an agent runs one tool round from the tarball, by import and by require', () => {
  const smoke = fileURLToPath(new URL('../compat/smoke.mjs', import.meta.url));
  copyFileSync(smoke, join(project, 'smoke.mjs'));
  const text = readFileSync(smoke, 'utf8');
  // Top-level await is ESM's: the rest is wrapped for require.
  writeFileSync(
    join(project, 'smoke.cjs'),
    `(async () => {\n${text.replace(/^import (.*) from (.*);$/gm, 'const $1 = require($2);')}\n})();`,
  );

  expect(node('smoke.mjs')).toBe('one tool round works\n');
  expect(node('smoke.cjs')).toBe('one tool round works\n');
});

test.each(specifiers)('%s loads by import and by require', (name) => {
  peers.forEach(link);

  node('--input-type=module', '-e', `await import('${name}')`);
  node('-e', `require('${name}')`);
});

test('the types of every entry resolve from ESM and from CommonJS, and are sound', () => {
  peers.forEach(link);
  link('@types/node');
  const names = specifiers.map((name, index) => `import * as m${index} from '${name}';`).join('\n');
  const used = specifiers.map((_, index) => `m${index}`).join(', ');
  const text = `${names}\nexport const all = [${used}];\n`;
  for (const ending of ['mts', 'cts']) writeFileSync(join(project, `all.${ending}`), text);
  const language = ['--strict', '--target', 'es2022', '--lib', 'es2023,esnext.disposable,dom', '--types', 'node'];

  // Not `skipLibCheck`: our own declarations have to be right too.
  node(join(modules, 'typescript/bin/tsc'), '--noEmit', ...language, '--module', 'nodenext', 'all.mts', 'all.cts');
});
