import type { Readable, Writable } from 'node:stream';
import { systemClock } from '../internal/clock.js';
import { onAbort } from '../internal/stop.js';
import { GRACE_MS, type GroupEnd, type GroupOptions, ProcessGroup } from './process-group.js';
import { explainSpawnError, type SpawnFailure } from './spawn-failure.js';

/** Options of a program that runs until it is stopped. */
export interface OpenProcessOptions extends GroupOptions {
  /** Terminates the process group at once when aborted, unlike `stop`, which first ends the input. */
  readonly signal?: AbortSignal | undefined;
}

/** A running program and its pipes. The caller must read `stdout`, or the program blocks when the pipe is full. */
export interface OpenProcess {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Returns the last output on standard error, up to `stderrBytes`. */
  stderr(): string;
  /** Resolves when the program has ended, for any reason. */
  readonly ended: Promise<GroupEnd>;
  /** Ends the input, sends SIGTERM after two seconds, and SIGKILL after two more. */
  stop(): Promise<GroupEnd>;
}

/** Starts a program. Resolves when it runs, or with the failure if it cannot be started. */
export async function openProcess(options: OpenProcessOptions): Promise<OpenProcess | { failure: SpawnFailure }> {
  const group = ProcessGroup.start(options);
  if (!(group instanceof ProcessGroup)) return { failure: group };
  const { signal } = options;
  const { child } = group;
  if (signal?.aborted) void group.terminate();
  const forget = onAbort(signal, () => void group.terminate());
  void group.ended.then(forget);
  const begun = new Promise<void>((resolve) => child.once('spawn', resolve));
  const end = await Promise.race([begun, group.ended]);
  if (end?.failure) return { failure: end.failure };
  const { pid, stdin, stdout } = child;
  if (pid === undefined || !stdin || !stdout) return { failure: explainSpawnError(undefined, options.command) };
  return {
    pid,
    stdin,
    stdout,
    stderr: () => group.stderr.text(),
    ended: group.ended,
    stop: () => stop(group, options),
  };
}

async function stop(group: ProcessGroup, { clock = systemClock }: OpenProcessOptions): Promise<GroupEnd> {
  group.child.stdin?.end();
  const timer = clock.setTimeout(() => void group.terminate(), GRACE_MS);
  const end = await group.ended;
  clock.clearTimeout(timer);
  return end;
}
