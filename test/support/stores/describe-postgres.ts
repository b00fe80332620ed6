import { describe, expect, test } from 'vitest';
import { hasPostgres } from './postgres-server.js';

/** Like `describe`. Without PostgreSQL, the tests are skipped, or fail in CI. */
export function describeWithPostgres(title: string, tests: () => void): void {
  if (hasPostgres) return void describe(title, tests);
  if (process.env.CI === 'true') {
    return void test(title, () => expect.fail('PostgreSQL is not installed: apt-get install postgresql'));
  }
  console.log(`Skipped, since PostgreSQL is not installed: ${title}`);
  describe.runIf(false)(title, tests);
}
