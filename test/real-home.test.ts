import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './support/docs/doc-files.js';
import { scratchFolder } from './support/process/scratch.js';

interface Run {
  readonly code: number | null;
  readonly output: string;
}

/** Runs one case in its own test run, whose real home is `home`. */
function runCase(name: string, home: string): Promise<Run> {
  const temporary = join(home, '..', 'tmp');
  mkdirSync(join(home, '.keelson'), { recursive: true });
  mkdirSync(temporary, { recursive: true });
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/fixtures/home/vitest.config.ts', name];
  const { VITEST: _vitest, ...inherited } = process.env;
  const env = { ...inherited, HOME: home, TMPDIR: temporary, NO_COLOR: '1' };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, { cwd: root, env }, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode, output: stdout + stderr });
    });
  });
}

test('the home directory of the tests is a temporary directory', () => {
  expect(homedir()).not.toBe(userInfo().homedir);
  expect(process.env.USERPROFILE).toBe(homedir());
  expect(process.env.XDG_CONFIG_HOME).toBe(join(homedir(), 'config'));
});

test('a write to the real home fails the test, and a write by a child process fails the run', async () => {
  const homes = [scratchFolder(), scratchFolder()].map((folder) => join(folder, 'home'));
  const [direct = '', byProcess = ''] = homes;
  const [writes, process] = await Promise.all([runCase('/writes', direct), runCase('process-writes', byProcess)]);

  expect(writes.output).toMatch(/5 failed \| 1 passed/);
  expect(writes.output).toContain('HomeWriteError: A test must not write to the real home directory');
  expect(writes.output).not.toMatch(/FAIL .* > passes/);
  expect(readdirSync(join(direct, '.keelson'))).toEqual([]);
  expect(process.output).toMatch(/Tests {2}1 passed/);
  expect(process.output).toContain(join(byProcess, '.keelson', 'touched'));
  expect([writes.code, process.code]).toEqual([1, 1]);
  expect(existsSync(join(byProcess, '.keelson', 'touched'))).toBe(true);
}, 60_000);
