import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { killTree } from '../../src/process/kill-tree.js';
import { remaining } from '../support/process/sh.js';

const program = fileURLToPath(new URL('../fixtures/process/host.ts', import.meta.url));

/** Starts the host, and resolves with what it runs. */
async function startHost(way: string): Promise<{ host: ChildProcess; pids: number[]; ready: Promise<unknown> }> {
  const host = spawn(process.execPath, ['--import', 'tsx', program, way], { stdio: ['ignore', 'pipe', 'ignore'] });
  const lines = createInterface({ input: host.stdout })[Symbol.asyncIterator]();
  const { value } = await lines.next();
  return { host, pids: String(value).split(' ').map(Number), ready: lines.next() };
}

async function endOf(host: ChildProcess): Promise<unknown[]> {
  return host.exitCode !== null || host.signalCode !== null ? [host.exitCode, host.signalCode] : once(host, 'exit');
}

describe('A18: nothing lives on where the host', { timeout: 30_000 }, () => {
  test.each([
    ['exits', [3, null]],
    ['throws', [1, null]],
  ])('%s', async (way, ending) => {
    const { host, pids } = await startHost(way);

    expect(await endOf(host)).toEqual(ending);
    expect(pids).toHaveLength(2);
    expect(await remaining(pids)).toEqual([]);
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const)(
    'gets %s, which ends it as it would have',
    async (signal) => {
      const { host, pids, ready } = await startHost('waits');
      await ready;
      host.kill(signal);

      expect(await endOf(host)).toEqual([null, signal]);
      expect(await remaining(pids)).toEqual([]);
    },
  );

  test.each(['handles', 'handlesOnce'])('%s SIGTERM itself, in its own way', async (way) => {
    const { host, pids, ready } = await startHost(way);
    await ready;
    host.kill('SIGTERM');

    expect(await endOf(host)).toEqual([4, null]);
    expect(await remaining(pids)).toEqual([]);
  });

  test('has a listener that ends it only where it is alone: it is', async () => {
    const { host, pids, ready } = await startHost('raisesWhenAlone');
    await ready;
    host.kill('SIGTERM');

    expect(await endOf(host)).toEqual([null, 'SIGTERM']);
    // What ignores SIGTERM lives on there: the process ended without a word.
    for (const pid of await remaining(pids)) process.kill(pid, 'SIGKILL');
  });
});

describe('a tree is killed', () => {
  test('as a group', () => {
    const calls: unknown[] = [];
    const kill = (pid: number, signal: NodeJS.Signals) => void calls.push([pid, signal]);

    killTree(42, 'SIGTERM', { platform: 'linux', kill, spawn: () => expect.unreachable() });

    expect(calls).toEqual([[-42, 'SIGTERM']]);
  });

  test('by taskkill on Windows, by its full path', () => {
    const calls: unknown[] = [];
    const spawnIt = (command: string, args: string[]) => {
      calls.push([command, args]);
      return { on: () => {} };
    };

    killTree(42, 'SIGTERM', { platform: 'win32', kill: () => expect.unreachable(), spawn: spawnIt });

    expect(calls).toEqual([['C:\\Windows\\System32\\taskkill.exe', ['/PID', '42', '/T', '/F']]]);
  });

  test.each([0, 1, -1, Number.NaN])('never as %s, which would be more than a tree', (pid) => {
    killTree(pid, 'SIGKILL', {
      platform: 'linux',
      kill: () => expect.unreachable(),
      spawn: () => expect.unreachable(),
    });
  });

  test('without a word where it is gone', () => {
    const kill = () => {
      throw Object.assign(new Error('kill ESRCH'), { code: 'ESRCH' });
    };

    const { stackTraceLimit } = Error;

    expect(() => killTree(42, 'SIGKILL', { platform: 'linux', kill, spawn: () => expect.unreachable() })).not.toThrow();
    expect(Error.stackTraceLimit).toBe(stackTraceLimit);
  });
});
