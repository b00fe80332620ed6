import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { openProcess } from '../../src/process/open-process.js';
import type { Spawn } from '../../src/process/process-group.js';
import { type RunProcessOptions, runProcess } from '../../src/process/run-process.js';
import { fakeClock } from '../support/agent/fake-clock.js';
import { settled } from '../support/lifecycle/manual-clock.js';

/** A child that somebody made up for a test of theirs: it lacks what such children lack. */
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

test('the exit code counts of a child that says no more than that it is closed', async () => {
  const child = new MadeUpChild();
  const running = runProcess(startOf(child));
  child.emit('close', 2, null);

  expect(await running).toMatchObject({ outcome: 'exited', exitCode: 2 });
});

test('an exit code stands, whatever the close says after it', async () => {
  const child = new MadeUpChild();
  const running = runProcess(startOf(child));
  child.emit('exit', 2, null);
  child.emit('close', null, null);

  expect(await running).toMatchObject({ outcome: 'exited', exitCode: 2 });
});

test('output may come as texts, and as single bytes of a character', async () => {
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

test('a made-up child is killed by its own method: its pid may be that of anybody', async () => {
  // This very process: its group would be signalled.
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

test('one that has ended by itself is not killed', async () => {
  const child = new MadeUpChild();
  const running = runProcess(startOf(child));
  child.emit('exit', 0, null);
  child.emit('close', 0, null);
  await running;

  expect(child.signals).toEqual([]);
});

test('an abort ends an open process that never says that it runs', async () => {
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
