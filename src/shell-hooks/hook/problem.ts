import type { ProcessResult } from '../../process/run-process.js';
import type { SpawnFailureCode } from '../../process/spawn-failure.js';

/** Why a run of a hook gave nothing that counts. */
export type HookProblemKind =
  | 'not-started'
  | 'timed-out'
  | 'signaled'
  | 'exit-code'
  | 'output-limit'
  | 'malformed'
  | 'untrusted'
  | 'aborted';

/** What went wrong with a hook. */
export interface HookProblem {
  readonly kind: HookProblemKind;
  readonly message: string;
  /** What to do about it. */
  readonly hint?: string | undefined;
  /** Why it could not be started. */
  readonly code?: SpawnFailureCode | undefined;
}

/** What went wrong with a program, or undefined where it came to its end with exit code 0. */
export function problemOf(result: ProcessResult): HookProblem | undefined {
  const { outcome, exitCode, signal, failure } = result;
  const said = lastWords(result.stderr);
  if (outcome === 'spawn-failed') {
    return { kind: 'not-started', message: failure?.message ?? 'It could not be started', ...failure };
  }
  if (outcome === 'timed-out') return { kind: 'timed-out', message: 'It took too long, and was ended' };
  if (outcome === 'aborted') return { kind: 'aborted', message: 'It was ended with its run' };
  if (outcome === 'output-limit') {
    return {
      kind: 'output-limit',
      message: 'It wrote too much, and was ended',
      hint: 'Write the one JSON object only.',
    };
  }
  if (outcome === 'signaled') return { kind: 'signaled', message: `It was ended by ${signal}${said}` };
  return exitCode === 0 ? undefined : { kind: 'exit-code', message: `It exited with code ${exitCode}${said}` };
}

/** Output that is not what it has to be. */
export function malformed(problem: string): HookProblem {
  return { kind: 'malformed', message: `Its output is not valid: ${problem}` };
}

const SHOWN = 500;

function lastWords(stderr: string): string {
  const text = stderr.trim();
  return text === '' ? '' : `: ${text.length > SHOWN ? `…${text.slice(-SHOWN)}` : text}`;
}
