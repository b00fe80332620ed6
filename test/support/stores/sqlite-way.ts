import { createRequire } from 'node:module';
import type { SqliteStoreOptions } from 'keelson/sqlite';
import type { SqliteHandle } from '../../../src/stores/sqlite/module.js';

type Database = new (file: string) => SqliteHandle;

/** A way to open a file of SQLite. */
export interface SqliteWay {
  readonly name: string;
  /** Opens the file as another program would. */
  connect(file: string): SqliteHandle;
  /** Returns the options with which a store uses the file. */
  optionsFor(file: string): Pick<SqliteStoreOptions, 'file' | 'client'>;
}

/** The ways of this runtime: a file with `node:sqlite`, and a client of `better-sqlite3` if that package is installed. */
export const sqliteWays: readonly SqliteWay[] = [...ofNode(), ...ofBetterSqlite()];

function ofNode(): SqliteWay[] {
  const found = process.getBuiltinModule('node:sqlite' as never) as { readonly DatabaseSync: Database } | undefined;
  if (found === undefined) return [];
  return [{ name: 'node:sqlite', connect: (file) => new found.DatabaseSync(file), optionsFor: (file) => ({ file }) }];
}

function ofBetterSqlite(): SqliteWay[] {
  let Database: Database;
  try {
    Database = createRequire(import.meta.url)('better-sqlite3');
  } catch {
    return [];
  }
  const connect = (file: string) => new Database(file);
  return [{ name: 'better-sqlite3', connect, optionsFor: (file) => ({ client: connect(file) }) }];
}
