import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Work } from '../work/script.mjs';

/** The exact cost of one run. */
export interface Exact {
  readonly bytes: number;
  readonly microtasks: number;
}

const script = fileURLToPath(new URL('../work/exact.mjs', import.meta.url));

// No garbage collection may run between two readings of the heap.
const ROOMY = ['--expose-gc', '--max-semi-space-size=256', '--min-semi-space-size=256'];
/** Without the optimizing compilers, equal code allocates exactly equal bytes. */
const EXACTLY = [...ROOMY, '--no-opt', '--no-sparkplug', '--single-threaded'];

/** Counts bytes and microtasks of a run in the interpreter. */
export function countExactly(side: string, work: Partial<Work>, ...control: 'late'[]): Promise<Exact> {
  return count(EXACTLY, [side, JSON.stringify(work), ...control]);
}

/** Counts bytes of a run after optimisation. */
export function countOptimised(side: string, work: Partial<Work>): Promise<Exact> {
  return count(ROOMY, [side, JSON.stringify(work)]);
}

async function count(flags: string[], args: string[]): Promise<Exact> {
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, script, ...args]);
  return JSON.parse(stdout);
}
