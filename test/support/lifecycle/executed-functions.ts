import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Functions of the library, each with its file and position. */
export interface ExecutedFunctions {
  /** The functions of `src/lifecycle` that are on the stack while a hook runs. */
  readonly callers: readonly string[];
  /** The functions that a run without a lifecycle executes. */
  readonly without: readonly string[];
  /** The functions that a run executes whose lifecycle has no hook that the run calls. */
  readonly withUncalled: readonly string[];
}

const program = fileURLToPath(new URL('../../fixtures/lifecycle/executed-functions.ts', import.meta.url));

/** Runs agents in a process of its own, because only one user of V8's coverage at a time gets correct counts. */
export async function executedFunctions(): Promise<ExecutedFunctions> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', program], { maxBuffer: 2 ** 26 });
  return JSON.parse(stdout);
}
