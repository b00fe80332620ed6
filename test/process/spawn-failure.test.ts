import { spawn } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runProcess } from '../../src/process/run-process.js';
import { findSpawnFailure } from '../../src/process/spawn-failure.js';
import { scratchFolder, script, write } from '../support/process/scratch.js';
import { env, sh } from '../support/process/sh.js';

const run = (command: string) => runProcess({ command, env, timeoutMs: 2_000 });

describe('A11: the failure code tells', () => {
  test('a missing program', async () => {
    expect(await run('/nowhere/program')).toMatchObject({ outcome: 'spawn-failed', failure: { code: 'not-found' } });
    expect(await run('/bin/sh/program')).toMatchObject({ outcome: 'spawn-failed', failure: { code: 'not-found' } });
  });

  test('a file that is not executable, with a hint', async () => {
    const path = write(join(scratchFolder(), 'hook.sh'), '#!/bin/sh\n');

    expect((await run(path)).failure).toEqual({
      code: 'not-executable',
      message: `${path} is not executable`,
      hint: `Run: chmod +x ${path}`,
    });
  });

  test.each(['#!/nowhere/interpreter\n', '#! /nowhere/interpreter -x\n', '#!/bin/sh\r\necho hello\r\n'])(
    'a missing interpreter in the first line: %j',
    async (text) => {
      const path = script(join(scratchFolder(), 'hook.sh'), text);

      expect(await run(path)).toMatchObject({ outcome: 'spawn-failed', failure: { code: 'bad-interpreter' } });
    },
  );

  test('an interpreter may have any name', async () => {
    const folder = scratchFolder();
    symlinkSync('/bin/sh', join(folder, 'jóż\u00a0sh'));
    const path = script(join(folder, 'hook.sh'), `#!${folder}/jóż\u00a0sh\necho hello\n`);

    expect(await run(path)).toMatchObject({ outcome: 'exited', stdout: 'hello\n' });
  });

  test('a directory', async () => {
    expect(await run(scratchFolder())).toMatchObject({ outcome: 'spawn-failed', failure: { code: 'is-directory' } });
  });

  test.each(['', 'echo gotcha\n', '# no first line\nid\n', 'echo gotcha\n\0'])(
    'a script without an interpreter line, which is not run in a shell: %j',
    async (text) => {
      const path = script(join(scratchFolder(), 'hook'), text);

      expect(await run(path)).toMatchObject({ outcome: 'spawn-failed', stdout: '', failure: { code: 'bad-format' } });
    },
  );

  test('a binary that was run before and is a script without an interpreter line now', async () => {
    const path = join(scratchFolder(), 'hook');
    copyFileSync('/bin/true', path);
    expect(await run(path)).toMatchObject({ outcome: 'exited', exitCode: 0 });
    writeFileSync(path, 'echo gotcha\n'.padEnd(statSync(path).size, '#'));

    expect(await run(path)).toMatchObject({ outcome: 'spawn-failed', stdout: '', failure: { code: 'bad-format' } });
  });

  test('a program that is executable but not readable can be run', async () => {
    const path = script(join(scratchFolder(), 'hook'), '#!/bin/sh\n');
    chmodSync(path, 0o111);

    expect(findSpawnFailure({ command: path, env })).toBe(undefined);
  });

  test('a path that is not absolute', async () => {
    expect(await run('sh')).toMatchObject({ outcome: 'spawn-failed', failure: { code: 'bad-argument' } });
  });
});

test.each([
  { args: ['a\0b'] },
  { env: { A: 'a\0b' } },
  { env: { 'A\0': 'b' } },
  { env: { 'LD_PRELOAD=./x.so': 'b' } },
  { env: { '': 'b' } },
  { cwd: '/tmp\0' },
  { command: '/bin/sh\0' },
])('A13: an invalid string or variable name gives a failure and does not throw: %j', async (options) => {
  expect(await sh('exit 0', options)).toMatchObject({ outcome: 'spawn-failed', failure: { code: 'bad-argument' } });
});

test('A15: a missing working directory is told from a missing program', async () => {
  const cwd = scratchFolder();
  rmSync(cwd, { recursive: true });

  expect(await sh('exit 0', { cwd })).toMatchObject({ outcome: 'spawn-failed', failure: { code: 'cwd-missing' } });
  mkdirSync(cwd);
  expect(await sh('exit 0', { cwd })).toMatchObject({ outcome: 'exited' });
});

test.each(['EAGAIN', 'EMFILE', 'ENOMEM'])('A20: an exception %s of spawn gives a failure', async (code) => {
  const failing = () => {
    throw Object.assign(new Error(`spawn ${code}`), { code });
  };

  expect(await sh('exit 0', { spawn: failing })).toMatchObject({
    outcome: 'spawn-failed',
    failure: { code: 'no-resources' },
  });
});

test('A20: a child without pipes that only emits an error gives a failure', async () => {
  const child = Object.assign(new EventEmitter(), { stdio: [], unref: () => {} });
  const fail = () => child.emit('error', Object.assign(new Error('spawn EMFILE'), { code: 'EMFILE' }));

  const result = await sh('exit 0', {
    spawn: () => {
      setTimeout(fail, 10);
      return child as never;
    },
  });

  expect(result).toMatchObject({ outcome: 'spawn-failed', failure: { code: 'no-resources' } });
});

test('a program that disappears between check and start gives a failure', async () => {
  const path = script(join(scratchFolder(), 'hook'), '#!/bin/sh\n');

  const result = await runProcess({
    ...{ command: path, env, timeoutMs: 1_000 },
    spawn: (command, args, options) => {
      rmSync(path);
      return spawn(command, args, options);
    },
  });

  expect(result).toMatchObject({ outcome: 'spawn-failed', failure: { code: 'not-found' } });
});

test('a list of arguments that is too long gives a failure', async () => {
  expect(await sh('exit 0', { args: ['-c', `: ${'x'.repeat(3_000_000)}`] })).toMatchObject({
    outcome: 'spawn-failed',
    failure: { code: 'bad-argument' },
  });
});
