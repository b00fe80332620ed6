import { type SpawnOptions, spawn } from 'node:child_process';

/** What killing needs of the machine. */
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
 * Sends a signal to every process of the group that `pid` leads. One that is gone is no failure.
 *
 * Windows has no groups and no signals: there the tree is ended at once, whatever the signal. No test ran there.
 */
export function killTree(pid: number, signal: NodeJS.Signals, host: KillHost = thisHost): void {
  // 0 would be our own group, 1 everything that we may signal.
  if (!(pid > 1)) return;
  if (host.platform === 'win32') return killOnWindows(pid, host);
  try {
    host.kill(-pid, signal);
  } catch {
    // ESRCH: nobody is left. EPERM: macOS says so of a group whose members are zombies.
  }
}

function killOnWindows(pid: number, host: KillHost): void {
  const root = process.env.SystemRoot ?? 'C:\\Windows';
  const args = ['/PID', String(pid), '/T', '/F'];
  host.spawn(`${root}\\System32\\taskkill.exe`, args, { stdio: 'ignore', windowsHide: true }).on('error', () => {});
}
