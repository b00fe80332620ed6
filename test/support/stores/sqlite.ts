import { describe } from 'vitest';
import { type SqliteWay, sqliteWays } from './sqlite-way.js';

/** True if this runtime has `node:sqlite`. */
export const hasSqlite: boolean = sqliteWays.some(({ name }) => name === 'node:sqlite');

/** Like `describe`. Without `node:sqlite` the tests are skipped; `npm run compat` runs the contract on Node 22. */
export function describeWithSqlite(title: string, tests: () => void): void {
  describe.runIf(hasSqlite)(title, tests);
}

/** Describes the tests once for each way to open a file of SQLite on this runtime. */
export function describeEachSqlite(title: string, tests: (way: SqliteWay) => void): void {
  if (sqliteWays.length === 0) describe.todo(`${title}, which needs node:sqlite or better-sqlite3`);
  for (const way of sqliteWays) describe(`${title}, with ${way.name},`, () => tests(way));
}
