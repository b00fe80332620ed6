import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Work } from '../work/script.mjs';

/** What one run asks of the machine, counted exactly. */
export interface Exact {
  readonly bytes: number;
  readonly microtasks: number;
}

const script = fileURLToPath(new URL('../work/exact.mjs', import.meta.url));

// No collection may run between two readings of the heap.
const ROOMY = ['--expose-gc', '--max-semi-space-size=256', '--min-semi-space-size=256'];
/** The interpreter alone, so that two equal paths differ by exactly nothing. */
const EXACTLY = [...ROOMY, '--no-opt', '--no-sparkplug', '--single-threaded'];

/** Bytes and microtasks as the source asks for them. */
export function countExactly(side: string, work: Partial<Work>, ...control: 'late'[]): Promise<Exact> {
  return count(EXACTLY, [side, JSON.stringify(work), ...control]);
}

/** Bytes as they are after optimisation. */
export function countOptimised(side: string, work: Partial<Work>): Promise<Exact> {
  return count(ROOMY, [side, JSON.stringify(work)]);
}

async function count(flags: string[], args: string[]): Promise<Exact> {
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, script, ...args]);
  return JSON.parse(stdout);
}
