import type { Readable, Writable } from 'node:stream';
import { systemClock } from '../internal/clock.js';
import { GRACE_MS, type GroupEnd, type GroupOptions, ProcessGroup } from './process-group.js';
import { explainSpawnError, findSpawnFailure, type SpawnFailure } from './spawn-failure.js';

/** A program that lives until it is stopped. */
export interface OpenProcessOptions extends GroupOptions {
  /** Ends the group when it aborts, without waiting for the end of its input to be noticed. */
  readonly signal?: AbortSignal | undefined;
}

/** A running program with its pipes. Somebody has to read `stdout`. */
export interface OpenProcess {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** The last of what it wrote to its standard error. */
  stderr(): string;
  /** Resolves when it has ended, by itself or not. */
  readonly ended: Promise<GroupEnd>;
  /** Ends its input, after two seconds asks the group to end, and after two more kills it. */
  stop(): Promise<GroupEnd>;
}

/** Starts a program, and resolves once it runs, or with the reason why it does not. */
export async function openProcess(options: OpenProcessOptions): Promise<OpenProcess | { failure: SpawnFailure }> {
  const found = findSpawnFailure(options);
  if (found) return { failure: found };
  const group = ProcessGroup.start(options);
  if (!(group instanceof ProcessGroup)) return { failure: group };
  const { signal } = options;
  const { child } = group;
  const onAbort = () => void group.terminate();
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted) onAbort();
  void group.ended.then(() => signal?.removeEventListener('abort', onAbort));
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
