import { systemClock } from '../internal/clock.js';
import { required, timerMs } from '../internal/options/rules.js';
import { validateOption } from '../internal/options/validate.js';
import { bytesOf, OutputHead } from './output.js';
import { type GroupOptions, ProcessGroup } from './process-group.js';
import { findSpawnFailure, type SpawnFailure } from './spawn-failure.js';

/** One run of a program. */
export interface RunProcessOptions extends Omit<GroupOptions, 'stderrBytes'> {
  /** All that the program gets on its standard input, which then ends. A function is called while it starts. */
  readonly stdin?: string | Uint8Array | (() => string) | undefined;
  /** When the group is ended; the result is there within three seconds more. */
  readonly timeoutMs: number;
  /** How long it may take to end once it is told to. Default 2,000, which is the most. */
  readonly graceMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly limits?: ProcessLimits | undefined;
}

/** How much output is kept. */
interface ProcessLimits {
  /** A program that writes more is ended: what it wrote is of no use cut. Default 1 MiB. */
  readonly stdoutBytes?: number | undefined;
  /** Of a longer text the end is kept. Default 64 KiB. */
  readonly stderrBytes?: number | undefined;
}

/** What came of one run of a program. */
export interface ProcessResult {
  /** What ended it. With `output-limit` it wrote too much; only `exited` says that it came to its own end. */
  readonly outcome: 'exited' | 'signaled' | 'timed-out' | 'aborted' | 'output-limit' | 'spawn-failed';
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stdoutTruncated: boolean;
  readonly stderr: string;
  readonly stderrTruncated: boolean;
  /** Why it could not be started, with `spawn-failed`. */
  readonly failure: SpawnFailure | undefined;
  /** Whether a process that had left the group still held the output: it may live on. */
  readonly detachedChild: boolean;
  /** Whether it was told to end, by a signal, because this process was. */
  readonly toldByHost: boolean;
  readonly durationMs: number;
}

type Cause = 'timed-out' | 'aborted' | 'output-limit';

const STDOUT_BYTES = 1_048_576;

/**
 * Runs a program to its end, and settles within `timeoutMs` and three seconds, whatever the program does. Whatever goes
 * wrong with it is in the result; it rejects only where an option has a value that it cannot have, or `stdin` throws.
 *
 * The program gets a process group of its own and no terminal. What it leaves running in that group is killed.
 */
export async function runProcess(options: RunProcessOptions): Promise<ProcessResult> {
  validateOption('timeoutMs', options.timeoutMs, required(timerMs));
  if (options.signal?.aborted) return notRun('aborted');
  const found = findSpawnFailure(options);
  if (found) return notRun('spawn-failed', found);
  const clock = options.clock ?? systemClock;
  const startedAt = clock.now();
  const group = ProcessGroup.start({ ...options, stderrBytes: options.limits?.stderrBytes });
  if (!(group instanceof ProcessGroup)) return notRun('spawn-failed', group);
  const stdout = new OutputHead(options.limits?.stdoutBytes ?? STDOUT_BYTES);
  let cause: Cause | undefined;
  const stop = (why: Cause) => {
    if (group.exited) return;
    cause ??= why;
    void group.terminate(options.graceMs);
  };
  group.child.stdout?.on('data', (chunk: Buffer | string) => {
    stdout.push(bytesOf(chunk));
    if (stdout.truncated) stop('output-limit');
  });
  try {
    group.child.stdin?.end(typeof options.stdin === 'function' ? options.stdin() : options.stdin);
  } catch (error) {
    await group.terminate(0);
    throw error;
  }
  const release = stopAt(options, stop);
  const end = await group.ended;
  release();
  if (group.toldByHost && end.exitCode !== 0) cause ??= 'aborted';
  return {
    ...end,
    outcome: end.failure ? 'spawn-failed' : (cause ?? (end.signal === null ? 'exited' : 'signaled')),
    toldByHost: group.toldByHost,
    stdout: stdout.text(),
    stdoutTruncated: stdout.truncated,
    stderr: group.stderr.text(),
    stderrTruncated: group.stderr.truncated,
    durationMs: Math.max(0, clock.now() - startedAt),
  };
}

function notRun(outcome: 'aborted' | 'spawn-failed', failure?: SpawnFailure): ProcessResult {
  const end = { exitCode: null, signal: null, failure, detachedChild: false, toldByHost: false, durationMs: 0 };
  return { ...end, outcome, stdout: '', stdoutTruncated: false, stderr: '', stderrTruncated: false };
}

/** Calls `stop` when the time is up and when the signal aborts, until the returned function is called. */
function stopAt({ timeoutMs, signal, clock = systemClock }: RunProcessOptions, stop: (why: Cause) => void): () => void {
  const timer = clock.setTimeout(() => stop('timed-out'), timeoutMs);
  const onAbort = () => stop('aborted');
  // While it was started, or its input made.
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  return () => {
    clock.clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  };
}
