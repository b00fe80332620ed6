import { type SpawnOptions, spawn } from 'node:child_process';

/** The system calls that killing needs. Tests replace them. */
export interface KillHost {
  readonly platform: NodeJS.Platform;
  readonly kill: (pid: number, signal: NodeJS.Signals) => void;
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

function killOnWindows(pid: number, host: KillHost): void {
  const root = process.env.SystemRoot ?? 'C:\\Windows';
  const args = ['/PID', String(pid), '/T', '/F'];
  host.spawn(`${root}\\System32\\taskkill.exe`, args, { stdio: 'ignore', windowsHide: true }).on('error', () => {});
}
