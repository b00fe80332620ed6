import { describeError, KeelsonError } from '../../errors.js';

/** A store was created with the option `file`, but this runtime has no `node:sqlite`. */
export class SqliteUnsupportedError extends KeelsonError {
  readonly code = 'ERR_SQLITE_UNSUPPORTED';

  constructor() {
    super(
      `The option \`file\` needs \`node:sqlite\`, which Node ${process.version} does not have. Pass an open database of better-sqlite3 (version 12 for Node 20) or of bun:sqlite as \`client\`, or use Node 22.13 or newer, or the stores of keelson/file.`,
    );
  }
}

/**
 * Another process used the SQLite file for too long, or SQLite reported an error. `cause` is the error of SQLite. The
 * call changed nothing.
 */
export class SqliteUnavailableError extends KeelsonError {
  readonly code = 'ERR_SQLITE_UNAVAILABLE';
  readonly file: string;
  /** True if another process used the file, so that a later call may succeed. */
  readonly retryable: boolean;

  constructor(file: string, cause: unknown) {
    const retryable = isBusy(cause);
    const advice = retryable
      ? 'Another process writes to it. Try again, or raise `timeoutMs`.'
      : 'Check the file, its directory, its permissions and the free space.';
    super(`The SQLite file ${file} cannot be used (${describeError(cause).replace(/\.$/, '')}). ${advice}`, { cause });
    this.file = file;
    this.retryable = retryable;
  }
}

/** A stored entry is not JSON, or a newer version of Keelson wrote the SQLite file. */
export class SqliteDataError extends KeelsonError {
  readonly code = 'ERR_SQLITE_DATA';
  readonly file: string;

  constructor(file: string, problem: string, cause?: unknown) {
    super(`The SQLite file ${file} cannot be read: ${problem}`, { cause });
    this.file = file;
  }
}

const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;

/** Returns true if an error of SQLite means that another connection uses the file. */
export function isBusy(error: unknown): boolean {
  // `node:sqlite` reports numbers. `better-sqlite3` and `bun:sqlite` report names such as SQLITE_BUSY_SNAPSHOT.
  const { errcode, code } = (error ?? {}) as { readonly errcode?: unknown; readonly code?: unknown };
  if (typeof errcode !== 'number') return /^SQLITE_(BUSY|LOCKED)/.test(String(code));
  // The lowest byte is the primary result code.
  const primary = errcode & 0xff;
  return primary === SQLITE_BUSY || primary === SQLITE_LOCKED;
}
