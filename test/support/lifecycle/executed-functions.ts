import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The functions of the library that the second run of an agent executes. */
export interface ExecutedFunctions {
  /** Without a lifecycle. */
  readonly none: readonly string[];
  /** With an empty lifecycle. */
  readonly empty: readonly string[];
  /** With hooks that a successful run does not call. */
  readonly outside: readonly string[];
  /** With one hook that the run calls. */
  readonly one: readonly string[];
}

const program = fileURLToPath(new URL('../../fixtures/lifecycle/executed-functions.ts', import.meta.url));

/** Runs agents in a process of its own, because only one user of V8's coverage at a time gets correct counts. */
export async function executedFunctions(): Promise<ExecutedFunctions> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', program], { maxBuffer: 2 ** 26 });
  return JSON.parse(stdout);
}
