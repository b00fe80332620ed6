import { describe, expect } from 'vitest';
import { type SqliteWay, sqliteWays } from './sqlite-way.js';

/** True if this runtime has `node:sqlite`. */
export const hasSqlite: boolean = sqliteWays.some(({ name }) => name === 'node:sqlite');

/** Like `describe`. Without `node:sqlite` the tests are skipped; `npm run compat` runs the contract on Node 22. */
export function describeWithSqlite(title: string, tests: () => void): void {
  describe.runIf(hasSqlite)(title, tests);
}

const MISSING: SqliteWay = {
  name: 'none',
  connect: () => expect.fail('SQLite is missing'),
  optionsFor: () => expect.fail('SQLite is missing'),
};

/** Describes the tests once for each way to open a file of SQLite on this runtime. */
export function describeEachSqlite(title: string, tests: (way: SqliteWay) => void): void {
  if (sqliteWays.length === 0) {
    console.log(`Skipped, since this runtime has neither node:sqlite nor better-sqlite3: ${title}`);
    describe.runIf(false)(title, () => tests(MISSING));
  }
  for (const way of sqliteWays) describe(`${title}, with ${way.name},`, () => tests(way));
}
