import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { isOwnGroup, killTree } from '../../src/process/host-exit.js';
import { bundle } from '../support/process/bundle.js';
import { isGone, remaining } from '../support/process/sh.js';

const program = await bundle(fileURLToPath(new URL('../fixtures/process/host.ts', import.meta.url)));

/** Starts the host program. Resolves with the process ids of its children. */
async function startHost(way: string): Promise<{ host: ChildProcess; pids: number[]; ready: Promise<unknown> }> {
  const host = spawn(process.execPath, [program, way], { stdio: ['ignore', 'pipe', 'ignore'] });
  const lines = createInterface({ input: host.stdout })[Symbol.asyncIterator]();
  const { value } = await lines.next();
  return { host, pids: String(value).split(' ').map(Number), ready: lines.next() };
}

async function endOf(host: ChildProcess): Promise<unknown[]> {
  return host.exitCode !== null || host.signalCode !== null ? [host.exitCode, host.signalCode] : once(host, 'exit');
}

describe('A18: no child process survives a host that', { timeout: 30_000 }, () => {
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
    'is ended by %s, and the host ends with the same signal',
    async (signal) => {
      const { host, pids, ready } = await startHost('waits');
      await ready;
      host.kill(signal);

      expect(await endOf(host)).toEqual([null, signal]);
      expect(await remaining(pids)).toEqual([]);
    },
  );

  test.each(['handles', 'handlesOnce'])('%s SIGTERM with its own handler', async (way) => {
    const { host, pids, ready } = await startHost(way);
    await ready;
    host.kill('SIGTERM');

    expect(await endOf(host)).toEqual([4, null]);
    expect(await remaining(pids)).toEqual([]);
  });

  test('ends itself only if its signal handler is the only listener', async () => {
    const { host, pids, ready } = await startHost('raisesWhenAlone');
    await ready;
    host.kill('SIGTERM');

    expect(await endOf(host)).toEqual([null, 'SIGTERM']);
    // A child that ignores SIGTERM survives in this case: the host ended itself.
    for (const pid of pids.filter((pid) => !isGone(pid))) process.kill(pid, 'SIGKILL');
  });
});

describe('killTree', () => {
  test('signals the process group', () => {
    const calls: unknown[] = [];
    const kill = (pid: number, signal: NodeJS.Signals | 0) => void calls.push([pid, signal]);

    killTree(42, 'SIGTERM', { platform: 'linux', kill, spawn: () => expect.unreachable() });

    expect(calls).toEqual([[-42, 'SIGTERM']]);
  });

  test('calls taskkill by its full path on Windows', () => {
    const calls: unknown[] = [];
    const spawnIt = (command: string, args: string[]) => {
      calls.push([command, args]);
      return { on: () => {} };
    };

    killTree(42, 'SIGTERM', { platform: 'win32', kill: () => expect.unreachable(), spawn: spawnIt });

    expect(calls).toEqual([['C:\\Windows\\System32\\taskkill.exe', ['/PID', '42', '/T', '/F']]]);
  });

  test.each([0, 1, -1, Number.NaN])(
    'does nothing for the pid %s, which would signal more than one process tree',
    (pid) => {
      killTree(pid, 'SIGKILL', {
        platform: 'linux',
        kill: () => expect.unreachable(),
        spawn: () => expect.unreachable(),
      });
    },
  );

  test('ignores a process group that has ended', () => {
    const kill = () => {
      throw Object.assign(new Error('kill ESRCH'), { code: 'ESRCH' });
    };

    const { stackTraceLimit } = Error;

    expect(() => killTree(42, 'SIGKILL', { platform: 'linux', kill, spawn: () => expect.unreachable() })).not.toThrow();
    expect(Error.stackTraceLimit).toBe(stackTraceLimit);
  });
});

describe('isOwnGroup', () => {
  const hostWith = (...alive: readonly number[]) => ({
    platform: 'linux' as const,
    spawn: () => expect.unreachable(),
    kill: (id: number) => {
      if (!alive.includes(id)) throw Object.assign(new Error('kill ESRCH'), { code: 'ESRCH' });
    },
  });

  test.each<[string, readonly number[], boolean]>([
    ['members of the group are left', [-42], true],
    ['the group has ended', [], false],
    ['a new process has the id of the leader', [42], false],
    ['a new process leads a new group with that id', [42, -42], false],
  ])('when %s', (_title, alive, isOwn) => {
    const { stackTraceLimit } = Error;

    expect(isOwnGroup(42, hostWith(...alive))).toBe(isOwn);
    expect(Error.stackTraceLimit).toBe(stackTraceLimit);
  });

  test('is true for a group of zombies, for which macOS reports EPERM', () => {
    const kill = (id: number) => {
      throw Object.assign(new Error('kill'), { code: id < 0 ? 'EPERM' : 'ESRCH' });
    };

    expect(isOwnGroup(42, { ...hostWith(), kill })).toBe(true);
  });

  test('is false on Windows, which has no groups', () => {
    expect(isOwnGroup(42, { ...hostWith(-42), platform: 'win32' })).toBe(false);
  });
});
