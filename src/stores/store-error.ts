import { describeError, KeelsonError } from '../errors.js';
import type { LockProblem } from '../process/files/folder-lock.js';

/** A file of a store is not as the store wrote it. Nothing was read from it, and it was left as it is. */
export class StoreCorruptError extends KeelsonError {
  readonly code = 'ERR_STORE_CORRUPT';
  readonly file: string;

  constructor(file: string, problem: string) {
    super(`The file ${file} cannot be used: ${problem}. Put back a copy of it, or delete the session.`);
    this.file = file;
  }
}

/** Somebody else held a session of the store for too long. The call did nothing, unless `lost` is set. */
export class StoreBusyError extends KeelsonError {
  readonly code = 'ERR_STORE_BUSY';
  /** It may be free later. */
  readonly retryable = true;
  /** The session's folder. */
  readonly folder: string;
  /** True where this process slept so long that another one took over: what the call wrote may be there or not. */
  readonly lost: boolean;

  constructor(folder: string, { waitedMs, lost = false }: { readonly waitedMs?: number; readonly lost?: boolean }) {
    super(
      lost
        ? `The lock on ${folder} was taken over by another process. Read the session again before you go on.`
        : `Another process has held ${folder} for ${waitedMs} ms. Try again, or raise \`lockTimeoutMs\`.`,
    );
    this.folder = folder;
    this.lost = lost;
  }
}

/** The disk refused. `cause` says why; what was stored before is still there. */
export class StoreFailedError extends KeelsonError {
  readonly code = 'ERR_STORE_FAILED';

  constructor(folder: string, cause: unknown) {
    super(`The store in ${folder} failed: ${describeError(cause)}. Look at its disk and its permissions.`, { cause });
  }
}

/** The error for a session's folder that cannot be locked, or whose lock is lost. */
export function lockFailure(folder: string, problem: LockProblem): KeelsonError {
  if (problem.kind === 'not-a-folder')
    return new StoreCorruptError(folder, 'it must be a folder, and no symbolic link');
  return new StoreBusyError(folder, problem.kind === 'lost' ? { lost: true } : problem);
}
