import { describe } from 'vitest';

/** True if this runtime has `node:sqlite`. */
export const hasSqlite: boolean = process.getBuiltinModule('node:sqlite' as never) !== undefined;

/** Like `describe`. Without `node:sqlite` the tests are skipped; `npm run compat` runs the contract on Node 22. */
export function describeWithSqlite(title: string, tests: () => void): void {
  describe.runIf(hasSqlite)(title, tests);
}
