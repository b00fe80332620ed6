import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ProcessResult, type RunProcessOptions, runProcess } from '../../../src/process/run-process.js';

export const env = { PATH: process.env.PATH ?? '' };

/** Runs a command line in a shell. The default time limit is 20 seconds. */
export function sh(text: string, options: Partial<RunProcessOptions> = {}): Promise<ProcessResult> {
  return runProcess({ command: '/bin/sh', args: ['-c', text], env, timeoutMs: 20_000, ...options });
}

/** True if a process has ended. A zombie counts as ended. */
export function isGone(pid: number): boolean {
  try {
    if (process.platform !== 'linux') return !process.kill(pid, 0);
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return /^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return true;
  }
}

/** Waits until all processes have ended, at most ten seconds. Returns those that have not. */
export async function remaining(pids: readonly number[]): Promise<number[]> {
  for (let tries = 0; tries < 500 && !pids.every(isGone); tries++) await sleep(20);
  return pids.filter((pid) => !isGone(pid));
}
