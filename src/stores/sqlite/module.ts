import { SqliteUnsupportedError } from './error.js';

/** A value of a column. */
export type SqlValue = string | number | null;

/** A prepared statement of `node:sqlite`. */
export interface SqliteStatement {
  run(...values: readonly SqlValue[]): { readonly changes: number | bigint };
  get(...values: readonly SqlValue[]): unknown;
  all(...values: readonly SqlValue[]): unknown[];
}

/** A connection of `node:sqlite`. */
export interface SqliteHandle {
  exec(text: string): void;
  prepare(text: string): SqliteStatement;
  close(): void;
}

interface SqliteModule {
  readonly DatabaseSync: new (file: string) => SqliteHandle;
}

/** Returns the function that opens a file. Throws a SqliteUnsupportedError if this runtime has no `node:sqlite`. */
export function sqliteOpener(): (file: string) => SqliteHandle {
  const { getBuiltinModule } = process as { readonly getBuiltinModule?: (name: string) => unknown };
  const found = getBuiltinModule?.('node:sqlite') as SqliteModule | undefined;
  if (found === undefined) throw new SqliteUnsupportedError();
  return (file) => new found.DatabaseSync(file);
}
