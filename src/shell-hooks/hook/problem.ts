import type { ProcessResult } from '../../process/run-process.js';
import type { SpawnFailureCode } from '../../process/spawn-failure.js';

/** Kind of failure of a hook. */
type HookProblemKind =
  | 'not-started'
  | 'timed-out'
  | 'signaled'
  | 'exit-code'
  | 'output-limit'
  | 'malformed'
  | 'untrusted'
  | 'aborted';

/** The reason why a hook failed or was skipped. */
export interface HookProblem {
  readonly kind: HookProblemKind;
  readonly message: string;
  /** Advice on how to fix the problem. */
  readonly hint?: string | undefined;
  /**
   * Reason why the program could not be started. With `timed-out`, `no-resources` means that the hook spent part of its
   * time limit in the queue.
   */
  readonly code?: SpawnFailureCode | undefined;
}

/** The problem of a hook whose output was not read to its end. */
const TOO_MUCH_OUTPUT: HookProblem = {
  kind: 'output-limit',
  message: 'It wrote too much output to read all of it',
  hint: 'Write only one JSON object to stdout.',
};

/** Returns the problem of a finished program; undefined if it exited with code 0 and its output is complete. */
export function problemOf(result: ProcessResult): HookProblem | undefined {
  const { outcome, exitCode, signal, failure, stdoutTruncated } = result;
  const end = endOf(result.stderr);
  if (outcome === 'spawn-failed') {
    return { kind: 'not-started', message: failure?.message ?? 'It could not be started', ...failure };
  }
  if (outcome === 'aborted') return { kind: 'aborted', message: 'It was terminated because the operation was aborted' };
  if (stdoutTruncated) return TOO_MUCH_OUTPUT;
  if (outcome === 'timed-out') return { kind: 'timed-out', message: 'It exceeded its time limit and was terminated' };
  if (outcome === 'signaled') return { kind: 'signaled', message: `It was terminated by ${signal}${end}` };
  return exitCode === 0 ? undefined : { kind: 'exit-code', message: `It exited with code ${exitCode}${end}` };
}

/** Returns the problem of a hook whose time limit ended in the queue, before its program could start. */
export function queueTimeout(timeoutMs: number, most: number): HookProblem {
  return {
    kind: 'not-started',
    code: 'no-resources',
    message: `It could not start within its time limit of ${timeoutMs} ms, because ${most} other hooks were running`,
    hint: 'Make the hooks faster, or raise `maxProcesses` or the time limit.',
  };
}

/**
 * Returns true if the decision of a hook is unknown. Its output was too long, or the machine or the limit of hook
 * processes kept it from running for its whole time limit.
 */
export function isUndecided(problem: HookProblem | undefined): boolean {
  return problem?.code === 'no-resources' || problem?.kind === 'output-limit';
}

/** Returns the problem of a hook whose output is invalid. */
export function malformed(problem: string): HookProblem {
  return { kind: 'malformed', message: `Its output is invalid: ${problem}` };
}

const SHOWN = 500;

function endOf(stderr: string): string {
  const text = stderr.trim();
  return text === '' ? '' : `: ${text.length > SHOWN ? `…${text.slice(-SHOWN)}` : text}`;
}
