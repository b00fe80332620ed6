import { type SpawnOptions, spawn } from 'node:child_process';
import { hasCode } from './files/error-code.js';

/** The system calls that killing needs. Tests replace them. */
export interface KillHost {
  readonly platform: NodeJS.Platform;
  readonly kill: (pid: number, signal: NodeJS.Signals | 0) => void;
  readonly spawn: (
    command: string,
    args: string[],
    options: SpawnOptions,
  ) => { on(event: 'error', on: () => void): unknown };
}

const thisHost: KillHost = {
  platform: process.platform,
  kill: (pid, signal) => void process.kill(pid, signal),
  spawn: (command, args, options) => spawn(command, args, options),
};

/**
 * Sends a signal to every process in the group that `pid` leads. A group that has ended is ignored.
 *
 * Windows has no process groups or signals: there the process tree is ended with `taskkill`, for every signal. This was
 * never tested on Windows.
 */
export function killTree(pid: number, signal: NodeJS.Signals, host: KillHost = thisHost): void {
  // 0 would signal our own group, and 1 every process that we may signal.
  if (!(pid > 1)) return;
  if (host.platform === 'win32') return killOnWindows(pid, host);
  try {
    host.kill(-pid, signal);
  } catch {
    // ESRCH: the group has ended. EPERM: macOS reports it for a group of zombies.
  }
}

/**
 * Returns true if the process group of a leader that has exited still has members. Returns false if a new process has
 * the id of the leader, because the group with this id is then unrelated. On Windows there are no groups.
 */
export function isOwnGroup(leader: number, host: KillHost = thisHost): boolean {
  // Asks for the group first. It is usually empty, so that the leader need not be asked for; each failed call throws.
  return host.platform !== 'win32' && exists(-leader, host) && !exists(leader, host);
}

/** Returns true if there is a process with this id, or a group with this negative id. */
function exists(id: number, host: KillHost): boolean {
  try {
    host.kill(id, 0);
    return true;
  } catch (error) {
    // The process belongs to another user, or on macOS the group consists of zombies.
    return hasCode(error, 'EPERM');
  }
}

function killOnWindows(pid: number, host: KillHost): void {
  const root = process.env.SystemRoot ?? 'C:\\Windows';
  const args = ['/PID', String(pid), '/T', '/F'];
  host.spawn(`${root}\\System32\\taskkill.exe`, args, { stdio: 'ignore', windowsHide: true }).on('error', () => {});
}
