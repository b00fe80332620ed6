import { readdirSync, readFileSync } from 'node:fs';
import { isGone } from '../mcp/lab.js';

/** Returns the ids of running processes whose command line or environment names a directory. */
export function processesOf(directory: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const names = (file: string) => readProcFile(file).includes(directory);
  return pids
    .filter((pid) => names(`/proc/${pid}/cmdline`) || names(`/proc/${pid}/environ`))
    .map(Number)
    .filter((pid) => !isGone(pid));
}

/** Returns an empty string for a process that has ended or belongs to another user. */
function readProcFile(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
