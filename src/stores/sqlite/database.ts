import { setTimeout as sleep } from 'node:timers/promises';
import { KeelsonError } from '../../errors.js';
import { isBusy, SqliteDataError, SqliteUnavailableError } from './error.js';
import { connectorTo, type SqliteClient, type SqliteHandle, type SqliteStatement, type SqlValue } from './module.js';
import { steps } from './schema.js';

const MAX_PAUSE_MS = 25;
const BEGIN_LATER = 'PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE';

/** Runs statements on an open database. Prepares each statement once per connection. */
export class SqliteSession {
  private readonly statements = new Map<string, SqliteStatement>();

  constructor(private readonly handle: SqliteHandle) {}

  /** Runs a statement. Returns its first row, or undefined. */
  row<Row>(text: string, ...values: readonly SqlValue[]): Row | undefined {
    return (this.prepared(text).get(...values) ?? undefined) as Row | undefined;
  }

  rows<Row>(text: string, ...values: readonly SqlValue[]): Row[] {
    return this.prepared(text).all(...values) as Row[];
  }

  /** Runs a statement. Returns the number of changed rows. */
  change(text: string, ...values: readonly SqlValue[]): number {
    return Number(this.prepared(text).run(...values).changes);
  }

  private prepared(text: string): SqliteStatement {
    let statement = this.statements.get(text);
    if (statement === undefined) {
      statement = this.handle.prepare(text);
      this.statements.set(text, statement);
    }
    return statement;
  }
}

/**
 * Runs the statements of one transaction. Must not be asynchronous, because the transaction ends when the function
 * returns.
 */
type Work<T> = (session: SqliteSession) => T;

/** A SQLite database in WAL mode. Opens its file with the first call. */
export class SqliteDatabase {
  /** The path of the file, for error messages. */
  readonly file: string;
  private readonly connect: () => SqliteHandle;
  private opened: { readonly handle: SqliteHandle; readonly session: SqliteSession } | undefined;

  constructor(
    place: string | SqliteClient,
    private readonly timeoutMs: number,
  ) {
    this.file = typeof place === 'string' ? place : (place.name ?? place.filename ?? 'of `client`');
    this.connect = connectorTo(place);
  }

  /**
   * Runs `work` as one transaction that writes. Waits while another connection writes, without blocking the process.
   */
  write<T>(work: Work<T>): Promise<T> {
    return this.retry('BEGIN IMMEDIATE', work);
  }

  /** Same as `write`, but does not wait for the disk. Until the next `write`, a power failure may undo the work. */
  writeLater<T>(work: Work<T>): Promise<T> {
    return this.retry(BEGIN_LATER, work);
  }

  /** Runs `work` on one snapshot of the database. */
  read<T>(work: Work<T>): Promise<T> {
    return this.retry('BEGIN', work);
  }

  /** Closes the database file, unless it was passed as an open client. A later call opens the file again. */
  close(): void {
    this.opened?.handle.close();
    this.opened = undefined;
  }

  private async retry<T>(begin: string, work: Work<T>): Promise<T> {
    const end = performance.now() + this.timeoutMs;
    for (let pause = 1; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
      try {
        return this.attempt(begin, work);
      } catch (error) {
        const left = end - performance.now();
        if (error instanceof KeelsonError) throw error;
        if (!isBusy(error) || left <= 0) throw new SqliteUnavailableError(this.file, error);
        // A random pause, so that two processes do not collide again.
        await sleep(Math.min(left, pause * (0.5 + Math.random())));
      }
    }
  }

  private attempt<T>(begin: string, work: Work<T>): T {
    this.opened ??= this.open();
    const { handle, session } = this.opened;
    try {
      return inTransaction(handle, begin, () => work(session));
    } finally {
      if (begin === BEGIN_LATER) handle.exec('PRAGMA synchronous = FULL');
    }
  }

  private open() {
    const handle = this.connect();
    try {
      handle.exec(
        'PRAGMA busy_timeout = 0; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON',
      );
      migrate(handle, this.file);
    } catch (error) {
      handle.close();
      throw error;
    }
    return { handle, session: new SqliteSession(handle) };
  }
}

/** Upgrades the tables if they are older than this version. Throws a SqliteDataError if they are newer. */
function migrate(handle: SqliteHandle, file: string): void {
  if (versionOf(handle) === steps.length) return;
  inTransaction(handle, 'BEGIN IMMEDIATE', () => {
    const version = versionOf(handle);
    if (version > steps.length) {
      throw new SqliteDataError(
        file,
        `its version is ${version}, and this package knows ${steps.length}. Upgrade Keelson.`,
      );
    }
    for (const step of steps.slice(version)) handle.exec(step);
    handle.exec(`PRAGMA user_version = ${steps.length}`);
  });
}

function versionOf(handle: SqliteHandle): number {
  const { user_version: version } = handle.prepare('PRAGMA user_version').get() as { readonly user_version: number };
  return version;
}

function inTransaction<T>(handle: SqliteHandle, begin: string, work: () => T): T {
  handle.exec(begin);
  try {
    const result = work();
    handle.exec('COMMIT');
    return result;
  } catch (error) {
    try {
      handle.exec('ROLLBACK');
    } catch {
      // SQLite has already rolled back, for example because the disk is full.
    }
    throw error;
  }
}
