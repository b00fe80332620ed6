import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { hasCode } from './error-code.js';

/** The state of the process that holds a lock. `unknown`: it cannot be checked, as on another machine. */
export type OwnerState = 'alive' | 'dead' | 'unknown';

/** Identifies this machine, its boot and the pid namespace: process ids can be compared only inside of these. */
const place = createHash('sha256')
  .update([hostname(), tryRead(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'))].join('\0'))
  .update(tryRead(() => readlinkSync('/proc/self/ns/pid')))
  .digest('hex')
  .slice(0, 16);

/** The start time of this process. It tells two processes apart that had the same process id. */
const began = startTime(tryRead(() => readFileSync('/proc/self/stat', 'utf8')));

/** Returns a file name that identifies this process as the holder of a lock. Every call returns a different name. */
export function newOwner(): string {
  return `held.${place}.${process.pid}.${began}.${randomBytes(16).toString('hex')}`;
}

/** Returns the state of the process that created the name `owner` with `newOwner`. */
export async function ownerState(owner: string): Promise<OwnerState> {
  const [, where, id = '', start] = owner.split('.');
  const pid = Number(id);
  if (where !== place || !Number.isSafeInteger(pid) || pid <= 0) return 'unknown';
  if (!isRunning(pid)) return 'dead';
  // A worker thread of this process may have ended while it held the lock.
  if (pid === process.pid && start === began) return 'unknown';
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  if (stat === '' || start === '0') return 'unknown';
  return startTime(stat) === start ? 'alive' : 'dead';
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !hasCode(error, 'ESRCH');
  }
}

/**
 * Returns the start time of a process in ticks since boot, from /proc/<pid>/stat. Returns '0' if it is missing or the
 * process is a zombie.
 */
function startTime(stat: string): string {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? '0' : (fields[19] ?? '0');
}

function tryRead(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
