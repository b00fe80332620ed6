import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { SqliteUnsupportedError } from './error.js';

/** A value of a column. */
export type SqlValue = string | number | null;

/** A prepared statement. Each method runs it once. */
export interface SqliteStatement {
  /** Runs the statement. Returns the number of changed rows. */
  run(...values: SqlValue[]): { readonly changes: number | bigint };
  /** Returns the first row. Without a row, returns undefined or null. */
  get(...values: SqlValue[]): unknown;
  /** Returns all rows. */
  all(...values: SqlValue[]): unknown[];
}

/** An open database of `better-sqlite3` or of `bun:sqlite`. */
export interface SqliteClient {
  /** The path of the database file. Set by `better-sqlite3`. */
  readonly name?: string | undefined;
  /** The path of the database file. Set by `bun:sqlite`. */
  readonly filename?: string | undefined;
  /** Runs one or more SQL statements. */
  exec(text: string): unknown;
  /** Prepares one SQL statement. */
  prepare(text: string): SqliteStatement;
}

/** An open database that a store may close. */
export interface SqliteHandle extends SqliteClient {
  close(): void;
}

interface SqliteModule {
  readonly DatabaseSync: new (file: string) => SqliteHandle;
}

/**
 * Returns a function that opens the database file, or that returns the passed open database. Throws a
 * SqliteUnsupportedError for a file if this runtime has no `node:sqlite`.
 */
export function connectorTo(place: string | SqliteClient): () => SqliteHandle {
  if (typeof place !== 'string') {
    return () => ({ exec: (text) => place.exec(text), prepare: (text) => place.prepare(text), close() {} });
  }
  const { getBuiltinModule } = process as { readonly getBuiltinModule?: (name: string) => unknown };
  const found = getBuiltinModule?.('node:sqlite') as SqliteModule | undefined;
  if (found === undefined) throw new SqliteUnsupportedError();
  return () => {
    mkdirSync(dirname(place), { recursive: true });
    return new found.DatabaseSync(place);
  };
}
