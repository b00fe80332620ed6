import { appendFileSync } from 'node:fs';
import type { ErrandOptions, Work } from './errand.js';
import { fileLog, linesOf } from './file-log.js';

/** Where a process is killed, once for each errand. */
export interface KillOrder {
  /** The position of the work, from 1. */
  readonly at: number;
  /** `before` the work, or `after` the work and before the engine has stored its step. */
  readonly phase: 'before' | 'after';
  /** The process to kill. */
  readonly pid: number;
}

/** Returns the options of an errand that records its work in a file, and kills processes as ordered. */
export function killingErrand(
  path: string,
  orders: readonly KillOrder[],
): Pick<ErrandOptions, 'log' | 'before' | 'after'> {
  const log = fileLog(path);
  const kill = async (phase: KillOrder['phase'], position: number) => {
    const killed = linesOf(`${path}.kills`).length;
    const { at, pid } = orders[killed] ?? {};
    if (orders[killed]?.phase !== phase || at === undefined || position < at || pid === undefined) return;
    appendFileSync(`${path}.kills`, `${phase} ${position}\n`);
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The server is already dead, killed by another errand.
    }
    // The process dies at once if it is this one.
    await new Promise((resolve) => setTimeout(resolve, 20));
  };
  const position = (_work: Work) => log.all().length;
  return {
    log,
    before: (work) => kill('before', position(work) + 1),
    after: (work) => kill('after', position(work)),
  };
}
