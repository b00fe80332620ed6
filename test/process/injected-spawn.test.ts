import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import type { Spawn } from 'keelson/mcp';
import { expect, test } from 'vitest';
import { openProcess } from '../../src/process/open-process.js';
import { type RunProcessOptions, runProcess } from '../../src/process/run-process.js';
import { fakeClock } from '../support/agent/fake-clock.js';
import { settled } from '../support/lifecycle/manual-clock.js';

/** A fake child process that lacks some members and events of a real one, as fakes in other test suites do. */
class MadeUpChild extends EventEmitter {
  readonly pid: number | undefined;
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  readonly stderr = new PassThrough();
  readonly signals: unknown[] = [];

  constructor(pid?: number) {
    super();
    this.pid = pid;
  }

  kill(signal: unknown): void {
    this.signals.push(signal);
  }
}

function startOf(child: MadeUpChild, more: Partial<RunProcessOptions> = {}) {
  const spawn: Spawn = () => child as unknown as ChildProcess;
  return { command: '/bin/sh', env: {}, timeoutMs: 100, spawn, clock: fakeClock(), ...more };
}

test('a child that only emits `close` has the exit code of that event', async () => {
  const child = new MadeUpChild();
  const running = runProcess(startOf(child));
  child.emit('close', 2, null);

  expect(await running).toMatchObject({ outcome: 'exited', exitCode: 2 });
});

test('the exit code of `exit` is kept when `close` has another one', async () => {
  const child = new MadeUpChild();
  const running = runProcess(startOf(child));
  child.emit('exit', 2, null);
  child.emit('close', null, null);

  expect(await running).toMatchObject({ outcome: 'exited', exitCode: 2 });
});

test('output may arrive as strings and as single bytes of a character', async () => {
  const child = new MadeUpChild();
  child.stderr.setEncoding('utf8');
  const running = runProcess(startOf(child));
  for (const byte of Buffer.from('é → 😀')) child.stdout.write(Buffer.of(byte));
  child.stdout.emit('data', ' and a text');
  child.stderr.write('why');
  await settled();
  child.emit('close', 0, null);

  expect(await running).toMatchObject({ stdout: 'é → 😀 and a text', stderr: 'why' });
});

test('a fake child is ended by its `kill` method, since its pid may belong to another process', async () => {
  // The pid of this process: killing its group would end the test.
  const child = new MadeUpChild(process.pid);
  const clock = fakeClock();
  const running = runProcess(startOf(child, { clock, graceMs: 50 }));
  child.emit('error', new Error('an error that comes late ends nothing'));

  clock.advance(99);
  expect(child.signals).toEqual([]);
  clock.advance(1);
  expect(child.signals).toEqual(['SIGTERM']);
  clock.advance(50);
  expect(child.signals).toEqual(['SIGTERM', 'SIGKILL']);
  clock.advance(300);

  expect(await running).toMatchObject({ outcome: 'timed-out', exitCode: null });
  expect(clock.pending()).toBe(0);
});

test('a child that has exited is not killed', async () => {
  const child = new MadeUpChild();
  const running = runProcess(startOf(child));
  child.emit('exit', 0, null);
  child.emit('close', 0, null);
  await running;

  expect(child.signals).toEqual([]);
});

test('an abort ends a process that never emits `spawn`', async () => {
  const child = new MadeUpChild(process.pid);
  const clock = fakeClock();
  const controller = new AbortController();
  const opening = openProcess({ ...startOf(child, { clock }), signal: controller.signal });
  await settled();
  controller.abort();
  clock.advance(2_300);

  expect(await opening).toHaveProperty('ended');
  expect(child.signals).toContain('SIGKILL');
  expect(clock.pending()).toBe(0);
});
