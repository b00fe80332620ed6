import { type SpawnOptions, spawn } from 'node:child_process';

type Kill = (signal: NodeJS.Signals) => void;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
const live = new Set<Kill>();

/**
 * Calls `kill` when this process ends, unless the returned function was called before. All registered callbacks share
 * one listener per event, which is removed with the last callback.
 */
export function killAtHostExit(kill: Kill): () => void {
  if (live.size === 0) listen();
  live.add(kill);
  return () => {
    if (live.delete(kill) && live.size === 0) unlisten();
  };
}

/** True if the host application has its own handler for the signal, other than `ours`. */
export function isHandled(signal: NodeJS.Signals, ours?: NodeJS.SignalsListener): boolean {
  return process.listeners(signal).some((listener) => listener !== onSignal && listener !== ours);
}

function listen(): void {
  process.on('exit', onExit);
  // Our handler must run first: Node removes a `once` handler of the host before it calls that handler, and `isHandled`
  // would no longer find it.
  for (const signal of SIGNALS) process.prependListener(signal, onSignal);
}

function unlisten(): void {
  process.off('exit', onExit);
  for (const signal of SIGNALS) process.off(signal, onSignal);
}

function onExit(): void {
  killAll('SIGKILL');
}

/**
 * Handles a signal that would end this process.
 *
 * If the host has no handler, kills every process group and raises the signal again, because a listener disables the
 * default action. If the host has a handler, sends SIGTERM to every group. This listener is removed while the handlers
 * of the host run, since some of them exit only if no other listener exists.
 *
 * See docs/decisions/0020-group-ends-with-its-leader.md.
 */
function onSignal(signal: NodeJS.Signals): void {
  process.off(signal, onSignal);
  if (isHandled(signal)) {
    killAll('SIGTERM');
    setImmediate(() => {
      if (live.size > 0 && !process.listeners(signal).includes(onSignal)) process.prependListener(signal, onSignal);
    });
    return;
  }
  killAll('SIGKILL');
  unlisten();
  process.kill(process.pid, signal);
}

function killAll(signal: NodeJS.Signals): void {
  for (const kill of [...live]) kill(signal);
}

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
 * Windows has no process groups or signals, so on Windows every signal ends the process tree with `taskkill`. This was
 * never tested on Windows.
 */
export function killTree(pid: number, signal: NodeJS.Signals, host: KillHost = thisHost): void {
  // Id 0 would stand for the group of this process, and id 1 for every process that may be signalled.
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
  // Tests the group first: it is usually empty, and then the second test is not needed. Each failed test costs an
  // exception.
  return host.platform !== 'win32' && exists(-leader, host) && !exists(leader, host);
}

/** Returns true if there is a process with this id, or a group with this negative id. */
function exists(id: number, host: KillHost): boolean {
  try {
    host.kill(id, 0);
    return true;
  } catch (error) {
    // The process belongs to another user, or on macOS the group consists of zombies.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function killOnWindows(pid: number, host: KillHost): void {
  const root = process.env.SystemRoot ?? 'C:\\Windows';
  const args = ['/PID', String(pid), '/T', '/F'];
  host.spawn(`${root}\\System32\\taskkill.exe`, args, { stdio: 'ignore', windowsHide: true }).on('error', () => {});
}
