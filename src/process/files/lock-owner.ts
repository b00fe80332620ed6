import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { hasCode } from './error-code.js';

/** What is known of the process that holds a lock. `unknown` is a process that cannot be seen from here, or not for sure. */
export type OwnerState = 'alive' | 'dead' | 'unknown';

/** Where process ids mean the same: a machine since its start, and a pid namespace in it. */
const place = createHash('sha256')
  .update([hostname(), tryRead(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'))].join('\0'))
  .update(tryRead(() => readlinkSync('/proc/self/ns/pid')))
  .digest('hex')
  .slice(0, 16);

/** When this process began: with it, a process id that was given again is told from the first one. */
const began = startTime(tryRead(() => readFileSync('/proc/self/stat', 'utf8')));

/** A file name that says who holds a lock. No two calls anywhere give the same. */
export function newOwner(): string {
  return `held.${place}.${process.pid}.${began}.${randomBytes(16).toString('hex')}`;
}

/** Looks for the process that `newOwner` made the name in. */
export async function ownerState(owner: string): Promise<OwnerState> {
  const [, where, id = '', start] = owner.split('.');
  const pid = Number(id);
  if (where !== place || !Number.isSafeInteger(pid) || pid <= 0) return 'unknown';
  if (!isRunning(pid)) return 'dead';
  // A thread of this process may have been ended while it held the lock.
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

/** The start of a process in ticks since boot, from /proc/<pid>/stat; '0' where it is not told, or the process is a zombie. */
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
