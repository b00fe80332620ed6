import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readEntries } from '../../scripts/entries.mjs';
import { createPackedProject } from '../../scripts/packed-project.mjs';

const modules = fileURLToPath(new URL('../../node_modules', import.meta.url));
const claims = fileURLToPath(new URL('../support/agent/claims.ts', import.meta.url));
const { peerDependencies } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
let project = '';

beforeAll(() => {
  project = createPackedProject();
  for (const name of [...Object.keys(peerDependencies), '@types/node']) link(name);
  const text = readFileSync(claims, 'utf8')
    .replace("'../../../src/index.js'", "'keelson'")
    .replace("'../../../src/lifecycles/lifecycles.js'", "'keelson/lifecycles'");
  writeFileSync(join(project, 'claims.mts'), text);
  writeFileSync(join(project, 'broken.mts'), text.replace('// @ts-expect-error', '//'));
  const imports = readEntries().map(({ specifier }, index) => `export * as entry${index} from '${specifier}';\n`);
  writeFileSync(join(project, 'entries.mts'), imports.join(''));
});

afterAll(() => {
  rmSync(project, { recursive: true, force: true });
});

/** Links a package of this repository into the project. */
function link(name: string): void {
  const path = join(project, 'node_modules', name);
  mkdirSync(join(path, '..'), { recursive: true });
  symlinkSync(join(modules, name), path);
}

/** Returns the compiler errors in the three files and in every declaration file that they import. */
function errorsOf(compiler: string): string[] {
  const compilerOptions = {
    ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true },
    ...{ module: 'nodenext', target: 'es2022', lib: ['es2023', 'esnext.disposable', 'dom'], types: ['node'] },
  };
  const files = ['claims.mts', 'entries.mts', 'broken.mts'];
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const tsc = join(modules, compiler, 'bin/tsc');
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', '.', '--pretty', 'false'], {
    cwd: project,
    encoding: 'utf8',
  });
  return stdout.split('\n').filter((line) => /^\S/.test(line));
}

function versionOf(compiler: string): string {
  return JSON.parse(readFileSync(join(modules, compiler, 'package.json'), 'utf8')).version;
}

// TypeScript 5.4 is the oldest version that accepts Zod's declarations without `skipLibCheck`, because they use
// `NoInfer`.
describe.each([
  ['typescript-oldest', '5.4.5'],
  ['typescript', '5.9.3'],
])('the packed declarations, compiled by %s %s', (compiler, version) => {
  test('every entry point compiles without errors, and every claim about the types of runs holds', () => {
    const errors = errorsOf(compiler);

    expect(versionOf(compiler)).toBe(version);
    expect(errors.filter((error) => !error.startsWith('broken.mts'))).toEqual([]);
    // broken.mts repeats the claims, with one expected error that is not marked as expected.
    expect(errors).toHaveLength(1);
  });
});
