import { describeError, KeelsonError } from '../errors.js';
import type { LockProblem } from '../process/files/folder-lock.js';

/** A file of a store is damaged. Nothing was read from the file, and it was left unchanged. */
export class StoreCorruptError extends KeelsonError {
  readonly code = 'ERR_STORE_CORRUPT';
  readonly file: string;

  constructor(file: string, problem: string) {
    super(`The file ${file} cannot be used: ${problem}. Restore a copy of it, or delete the session.`);
    this.file = file;
  }
}

/**
 * An earlier version of Keelson wrote the file in a format that this version cannot read. The file was left unchanged.
 */
export class StoreOutdatedError extends KeelsonError {
  readonly code = 'ERR_STORE_OUTDATED';
  readonly file: string;

  constructor(file: string) {
    super(
      `The file ${file} was written by an earlier version of Keelson, and this version cannot read it. Use another folder, or delete the session.`,
    );
    this.file = file;
  }
}

/** Another process held the lock of a session for too long. The call did nothing, unless `lost` is true. */
export class StoreBusyError extends KeelsonError {
  readonly code = 'ERR_STORE_BUSY';
  /** Always true: a later call may succeed. */
  readonly retryable = true;
  /** The directory of the session. */
  readonly folder: string;
  /**
   * True if this process was suspended so long that another process took over the lock. The writes of the call may or
   * may not be stored.
   */
  readonly lost: boolean;

  constructor(folder: string, { waitedMs, lost = false }: { readonly waitedMs?: number; readonly lost?: boolean }) {
    super(
      lost
        ? `The lock on ${folder} was taken over by another process. Read the session again before you continue.`
        : `Another process has held the lock on ${folder} for ${waitedMs} ms. Try again, or raise \`lockTimeoutMs\`.`,
    );
    this.folder = folder;
    this.lost = lost;
  }
}

/** The file system reported an error. `cause` is that error. Data that was stored before is intact. */
export class StoreFailedError extends KeelsonError {
  readonly code = 'ERR_STORE_FAILED';

  constructor(folder: string, cause: unknown) {
    super(`The store in ${folder} failed: ${describeError(cause)}. Check its disk and its permissions.`, { cause });
  }
}

/** Returns the error for a directory that cannot be locked, or whose lock was lost. */
export function lockFailure(folder: string, problem: LockProblem): KeelsonError {
  if (problem.kind === 'not-a-folder')
    return new StoreCorruptError(folder, 'it must be a directory, not a symbolic link');
  return new StoreBusyError(folder, problem.kind === 'lost' ? { lost: true } : problem);
}
