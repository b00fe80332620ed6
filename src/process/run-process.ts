import { systemClock } from '../internal/clock.js';
import { onAbort } from '../internal/stop.js';
import { CapturedOutput } from './captured-output.js';
import { bytesOf, type GroupOptions, ProcessGroup } from './process-group.js';
import type { SpawnFailure } from './spawn-failure.js';

/** Options of one run of a program. */
export interface RunProcessOptions extends Omit<GroupOptions, 'stderrBytes'> {
  /**
   * The complete standard input. A function is called after the start of the process. If the function throws or
   * rejects, the process is ended and the error is thrown to the caller.
   */
  readonly stdin?: string | Uint8Array | (() => string | Promise<string>) | undefined;
  /** Milliseconds after which the process group is terminated. The result follows within three seconds. */
  readonly timeoutMs: number;
  /** Time between SIGTERM and SIGKILL. Default 2,000; longer times are not supported. */
  readonly graceMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called once, when the program has written its first line to standard output. */
  readonly onFirstLine?: ((line: string) => void) | undefined;
}

/** The result of one run of a program. */
export interface ProcessResult {
  /** The way in which the program ended. `output-limit`: it wrote more than 1 MiB to standard output. */
  readonly outcome: 'exited' | 'signaled' | 'timed-out' | 'aborted' | 'output-limit' | 'spawn-failed';
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stdoutTruncated: boolean;
  readonly stderr: string;
  readonly stderrTruncated: boolean;
  /** The reason why the program could not be started. Set only with `spawn-failed`. */
  readonly failure: SpawnFailure | undefined;
  /** True if a process outside the group still held the output open. That process was not killed. */
  readonly detachedChild: boolean;
  /** True if the program got a signal because this process is ending. */
  readonly stoppedByHost: boolean;
  readonly durationMs: number;
}

type Cause = 'timed-out' | 'aborted' | 'output-limit';

/** A program that writes more bytes to standard output is terminated. */
const STDOUT_BYTES = 1_048_576;

/**
 * Runs a program until it ends. Settles within `timeoutMs` plus three seconds, whatever the program does.
 *
 * The result describes every failure of the program. Rejects only if `stdin` throws. Does not check `timeoutMs`.
 *
 * The program has its own process group and no terminal. Processes that it leaves in that group are killed.
 */
export async function runProcess(options: RunProcessOptions): Promise<ProcessResult> {
  if (options.signal?.aborted) return notRun('aborted');
  const clock = options.clock ?? systemClock;
  const startedAt = clock.now();
  const group = ProcessGroup.start(options);
  if (!(group instanceof ProcessGroup)) return notRun('spawn-failed', group);
  const stdout = new CapturedOutput(STDOUT_BYTES, 'first');
  let cause: Cause | undefined;
  const stop = (why: Cause) => {
    if (group.exited) return;
    cause ??= why;
    void group.terminate(options.graceMs);
  };
  readStdout(group, { stdout, options, stop: () => stop('output-limit') });
  const release = stopAt(options, stop);
  try {
    const input = writeInput(group, options.stdin);
    if (input !== undefined) await input;
  } catch (error) {
    await group.terminate(0);
    throw error;
  } finally {
    void group.ended.then(release);
  }
  const end = await group.ended;
  if (group.stoppedByHost && end.exitCode !== 0) cause ??= 'aborted';
  return {
    ...end,
    outcome: end.failure ? 'spawn-failed' : (cause ?? (end.signal === null ? 'exited' : 'signaled')),
    stoppedByHost: group.stoppedByHost,
    stdout: stdout.text(),
    stdoutTruncated: stdout.truncated,
    stderr: group.stderr.text(),
    stderrTruncated: group.stderr.truncated,
    durationMs: Math.max(0, clock.now() - startedAt),
  };
}

interface StdoutReader {
  readonly stdout: CapturedOutput;
  readonly options: RunProcessOptions;
  readonly stop: () => void;
}

function readStdout({ child }: ProcessGroup, { stdout, options, stop }: StdoutReader): void {
  let { onFirstLine } = options;
  child.stdout?.on('data', (chunk: Buffer | string) => {
    stdout.push(bytesOf(chunk));
    if (stdout.truncated) stop();
    if (onFirstLine === undefined || !chunk.includes('\n')) return;
    onFirstLine(stdout.text().split('\n', 1)[0] ?? '');
    onFirstLine = undefined;
  });
}

/** Writes the standard input. Returns a promise if the input is not ready yet. */
function writeInput({ child, ended }: ProcessGroup, stdin: RunProcessOptions['stdin']): Promise<void> | undefined {
  const input = typeof stdin === 'function' ? stdin() : stdin;
  if (!(input instanceof Promise)) return void child.stdin?.end(input);
  return Promise.race([input, ended]).then((ready) => {
    if (typeof ready === 'string') child.stdin?.end(ready);
  });
}

function notRun(outcome: 'aborted' | 'spawn-failed', failure?: SpawnFailure): ProcessResult {
  const end = { exitCode: null, signal: null, failure, detachedChild: false, stoppedByHost: false, durationMs: 0 };
  const output = { stdout: '', stdoutTruncated: false, stderr: '', stderrTruncated: false };
  return { ...end, ...output, outcome };
}

/** Calls `stop` when the time limit is over or the signal aborts. The returned function cancels both. */
function stopAt({ timeoutMs, signal, clock = systemClock }: RunProcessOptions, stop: (why: Cause) => void): () => void {
  const timer = clock.setTimeout(() => stop('timed-out'), timeoutMs);
  // The signal may have aborted while the process started.
  if (signal?.aborted) stop('aborted');
  const forget = onAbort(signal, () => stop('aborted'));
  return () => {
    clock.clearTimeout(timer);
    forget();
  };
}
