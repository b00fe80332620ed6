import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { Spawn } from 'keelson/mcp';
import { expect, test } from 'vitest';
import { runProcess } from '../../src/process/run-process.js';
import { fakeClock } from '../support/agent/fake-clock.js';
import { scratchFolder, script } from '../support/process/scratch.js';
import { env, remaining, sh } from '../support/process/sh.js';

test('stdin, stdout, stderr and the exit code are passed on', async () => {
  const result = await sh('cat; echo problem >&2; exit 3', { stdin: 'größe 🎉' });

  expect(result).toEqual({
    outcome: 'exited',
    exitCode: 3,
    signal: null,
    stdout: 'größe 🎉',
    stdoutTruncated: false,
    stderr: 'problem\n',
    stderrTruncated: false,
    failure: undefined,
    detachedChild: false,
    stoppedByHost: false,
    durationMs: expect.any(Number),
  });
});

test('a frozen environment is accepted, and is not changed if spawn adds a variable', async () => {
  const given = Object.freeze({ ...env });
  const adding: Spawn = (command, args, options) => {
    Object.assign(options.env ?? {}, { ADDED: 'here' });
    return spawn(command, args, options);
  };

  expect((await sh('echo $ADDED', { env: given, spawn: adding })).stdout).toBe('here\n');
  expect(given).not.toHaveProperty('ADDED');
});

test('an abort in the stdin function ends the program', async () => {
  const controller = new AbortController();
  const stdin = () => {
    controller.abort();
    return '';
  };

  const { outcome } = await sh('exec sleep 30', { stdin, signal: controller.signal, timeoutMs: 5_000 });

  expect(outcome).toBe('aborted');
});

test('the stdin function is called after the start, and the program reads its result', async () => {
  const order: string[] = [];
  const { stdout } = await sh('cat', {
    spawn: (command, args, options) => {
      order.push('spawn');
      return spawn(command, args, options);
    },
    stdin: () => {
      order.push('stdin');
      return 'late';
    },
  });

  expect({ order, stdout }).toEqual({ order: ['spawn', 'stdin'], stdout: 'late' });
});

test('an exception of the stdin function rejects the run and ends the program', async () => {
  const children: ChildProcess[] = [];
  const stdin = () => {
    throw new TypeError('no input');
  };
  const running = sh('trap "" TERM; sleep 60 & wait; sleep 60', {
    stdin,
    spawn: (command, args, options) => {
      const child = spawn(command, args, options);
      children.push(child);
      return child;
    },
  });

  await expect(running).rejects.toThrow('no input');
  expect(await remaining(children.map(({ pid = 0 }) => pid))).toEqual([]);
});

test('the stdin function may return a promise: a rejection ends the program, as does the time limit', async () => {
  const late = await sh('cat', { stdin: () => new Promise((done) => setTimeout(done, 20, 'later')) });
  const never = await sh('cat', { stdin: () => new Promise(() => {}), timeoutMs: 50 });
  const exited = await sh('exit 4', { stdin: () => new Promise(() => {}) });

  expect([late.stdout, never.outcome, exited.exitCode]).toEqual(['later', 'timed-out', 4]);
  await expect(sh('cat', { stdin: () => Promise.reject(new TypeError('no input')) })).rejects.toThrow('no input');
});

test('a child that emits only `exit` has ended when its output is read', async () => {
  const child = fakeChild();
  const running = sh('exit 0', { spawn: () => child as never, timeoutMs: 5_000 });
  child.stdout.end('all');
  child.stderr.end();
  setTimeout(() => child.emit('exit', 0, null), 50);

  const { outcome, stdout } = await running;

  expect({ outcome, stdout }).toEqual({ outcome: 'exited', stdout: 'all' });
});

test('5 MB can be written to stdin', async () => {
  const stdin = 'é'.repeat(2_500_000);

  const { stdout } = await sh('sha256sum', { stdin, timeoutMs: 5_000 });

  expect(stdout).toBe(`${createHash('sha256').update(stdin).digest('hex')}  -\n`);
});

test('a character that arrives in two chunks is decoded', async () => {
  const program =
    'process.stdout.write(Buffer.from([0xc3]), () => setTimeout(() => process.stdout.write(Buffer.from([0xa9])), 50))';

  const { stdout } = await runProcess({ command: process.execPath, args: ['-e', program], env, timeoutMs: 5_000 });

  expect(stdout).toBe('é');
});

test('the first line of stdout is told once, as soon as it is complete', async () => {
  const lines: string[] = [];
  const onFirstLine = (line: string) => void lines.push(line);

  await sh('printf fi; sleep 0.1; printf "rst\\nsecond\\n"; sleep 0.1; echo third', { onFirstLine });
  await sh('printf "no line"', { onFirstLine });

  expect(lines).toEqual(['first']);
});

test('B10: invalid UTF-8 bytes are replaced', async () => {
  expect((await sh("printf 'a\\377b'")).stdout).toBe('a\ufffdb');
});

test('A7: endless stderr output does not spoil stdout, and its last bytes are kept', async () => {
  const flood = "i=0; while [ $i -lt 20000 ]; do echo 0123456789; i=$((i+1)); done >&2; echo last >&2; echo '{}'";

  const { outcome, stdout, stderr, stderrTruncated } = await sh(flood, { timeoutMs: 5_000 });

  expect({ outcome, stdout, stderrTruncated }).toEqual({ outcome: 'exited', stdout: '{}\n', stderrTruncated: true });
  expect(stderr).toHaveLength(65_536);
  expect(stderr.endsWith('0123456789\nlast\n')).toBe(true);
});

test('a program with endless stdout output is ended at the limit', async () => {
  const { outcome, stdout, stdoutTruncated } = await sh('yes', { timeoutMs: 20_000 });

  expect({ outcome, stdoutTruncated, length: stdout.length }).toEqual({
    outcome: 'output-limit',
    stdoutTruncated: true,
    length: 1_048_576,
  });
});

test('output of exactly the limit is not truncated', async () => {
  const { outcome, stdoutTruncated } = await sh('head -c 1048576 /dev/zero', { timeoutMs: 5_000 });

  expect({ outcome, stdoutTruncated }).toEqual({ outcome: 'exited', stdoutTruncated: false });
});

test('a character that the limit of stdout cuts in two is left out', async () => {
  const { stdout } = await sh("head -c 1048575 /dev/zero | tr '\\0' a; printf é; sleep 5", { timeoutMs: 5_000 });

  expect([stdout.length, stdout.at(-1)]).toEqual([1_048_575, 'a']);
});

test('A8: a program may exit without reading 5 MB of input', async () => {
  const { outcome, stdout } = await sh('echo done; exit 0', { stdin: 'x'.repeat(5_000_000) });

  expect({ outcome, stdout }).toEqual({ outcome: 'exited', stdout: 'done\n' });
});

test('A12: exit code 2 is returned unchanged', async () => {
  expect(await sh('exit 2')).toMatchObject({ outcome: 'exited', exitCode: 2 });
});

test('a program ended by a foreign signal has the outcome signaled', async () => {
  expect(await sh('echo half; kill -9 $$')).toMatchObject({
    outcome: 'signaled',
    exitCode: null,
    signal: 'SIGKILL',
    stdout: 'half\n',
  });
});

test.skipIf(process.platform === 'win32')('A19: the program has no terminal', async () => {
  expect(await sh('echo x > /dev/tty')).toMatchObject({ outcome: 'exited', exitCode: expect.not.toBeOneOf([0]) });
});

test('the program gets exactly the given environment', async () => {
  const folder = scratchFolder();
  const command = script(join(folder, 'show'), `#!${process.execPath}\nconsole.log(JSON.stringify(process.env));`);

  const { stdout } = await runProcess({ command, env: { ONLY: 'this' }, timeoutMs: 5_000 });

  expect(JSON.parse(stdout)).toEqual({ ONLY: 'this' });
});

test('the program sees argv0 as its name', async () => {
  const program = 'console.log(process.argv0)';

  const { stdout } = await runProcess({
    command: process.execPath,
    args: ['-e', program],
    argv0: 'other',
    env,
    timeoutMs: 5_000,
  });

  expect(stdout).toBe('other\n');
});

test('time is measured with the given clock', async () => {
  const clock = fakeClock();
  const running = sh('exec sleep 60', { clock, timeoutMs: 30_000 });
  while (clock.pending() === 0) await new Promise((resolve) => setTimeout(resolve, 5));

  clock.advance(30_000);

  expect(await running).toMatchObject({ outcome: 'timed-out', durationMs: 30_000 });
  expect(clock.delays[0]).toBe(30_000);
  expect(clock.pending()).toBe(0);
});

test('A16: 60 runs leave no listeners, process handles or file descriptors behind', async () => {
  const warnings: string[] = [];
  const onWarning = ({ message }: Error) => void warnings.push(message);
  process.on('warning', onWarning);
  await sh('exit 0');
  const before = footprint();
  const { signal } = new AbortController();

  for (let run = 0; run < 60; run++) await sh('exit 0', { signal, stdin: 'x' });

  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', onWarning);
  expect(footprint()).toEqual(before);
  expect(warnings).toEqual([]);
}, 30_000);

test('spawn can be replaced', async () => {
  const seen: unknown[] = [];

  await sh('exit 0', {
    spawn: (command, args, options) => {
      seen.push([command, args, options.detached]);
      return spawn(command, args, options);
    },
  });

  expect(seen).toEqual([['/bin/sh', ['-c', 'exit 0'], process.platform !== 'win32']]);
});

function footprint() {
  const events = ['exit', 'SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];
  const descriptors = process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0;
  return { descriptors, listeners: events.map((event) => process.listenerCount(event)) };
}

function fakeChild() {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  return Object.assign(new EventEmitter(), { stdin, stdout, stderr, stdio: [stdin, stdout, stderr], unref: () => {} });
}
