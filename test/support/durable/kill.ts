import { appendFileSync } from 'node:fs';
import { pause } from '../agent/settle.js';
import type { ErrandOptions, Work } from './errand.js';
import { fileLog, linesOf } from './file-log.js';

/** A process to kill, once for each errand. */
export interface KillOrder {
  /** The work at which the process dies. */
  readonly what: string;
  /** Kills at the first, second, … execution of the work. Default: 1. */
  readonly nth?: number;
  /** `before` the work, or `after` the work and before the engine has stored its step. */
  readonly phase: 'before' | 'after';
  /** The process to kill. */
  readonly pid: number;
  /** Waits until the engine has stored this many steps of the errand. Default: 0. */
  readonly afterSteps?: number;
}

/** Returns the options of an errand that records its work in a file, and kills processes as ordered. */
export function killingErrand(
  path: string,
  orders: readonly KillOrder[],
): Pick<ErrandOptions, 'log' | 'before' | 'after'> {
  const log = fileLog(path);
  const kill = async (phase: KillOrder['phase'], { what }: Work) => {
    const order = orders[linesOf(`${path}.kills`).length];
    if (order?.phase !== phase || order.what !== what) return;
    const executions = log.all().filter((work) => work.what === what).length + (phase === 'before' ? 1 : 0);
    if (executions < (order.nth ?? 1)) return;
    while (storedSteps(path) < (order.afterSteps ?? 0)) await pause(5);
    appendFileSync(`${path}.kills`, `${phase} ${what}\n`);
    try {
      process.kill(order.pid, 'SIGKILL');
    } catch {
      // The process is already dead, killed by another errand.
    }
    // Lets the death of another process take effect before the step ends.
    await pause(20);
  };
  return { log, before: (work) => kill('before', work), after: (work) => kill('after', work) };
}

/** Returns the number of steps that the engine has stored and given, by the log of `loggedStep`. */
function storedSteps(path: string): number {
  return linesOf(`${path}.steps`).filter((line) => JSON.parse(line).event === 'given').length;
}
