import { join } from 'node:path';
import { migrate, PostgresSessionStore, PostgresStateStore } from 'keelson/postgres';
import { SqliteSessionStore, SqliteStateStore } from 'keelson/sqlite';
import type { StateStore } from 'keelson/store';
import { stateStoreContract } from 'keelson/testing';
import { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LONG_CASE } from '../support/state/state-store-contract.js';
import { describeWithPostgres } from '../support/stores/describe-postgres.js';
import { type PostgresServer, startPostgres } from '../support/stores/postgres-server.js';
import { checkSharedTurns } from '../support/stores/shared-turns.js';
import { describeWithSqlite } from '../support/stores/sqlite.js';
import { temporaryFolder } from '../support/stores/temporary-folder.js';

async function runLongCase(store: StateStore): Promise<void> {
  const cases = stateStoreContract({ open: () => store, unitMs: 60_000 });
  const long = cases.find(({ name }) => name === LONG_CASE);
  expect(long).toBeDefined();
  await long?.run();
}

const each = { count: 500, kills: 20 };
const title = `two processes that are killed ${each.kills} times each lose no acknowledged turn of ${2 * each.count}`;

describeWithPostgres('on PostgreSQL', () => {
  let server: PostgresServer;
  let pool: Pool;

  beforeAll(async () => {
    server = await startPostgres();
    pool = new Pool(server.settings);
    await migrate(pool);
  });

  afterAll(async () => {
    await pool.end();
    server.remove();
  });

  test(title, async () => {
    await checkSharedTurns({ kind: 'postgres', place: server.url }, new PostgresSessionStore({ client: pool }), each);
  }, 600_000);

  test(LONG_CASE, () => runLongCase(new PostgresStateStore({ client: pool, timeoutMs: 60_000 })), 600_000);
});

describeWithSqlite('in a file of SQLite', () => {
  test(title, async () => {
    const file = join(await temporaryFolder(), 'sessions.db');
    await checkSharedTurns({ kind: 'sqlite', place: file }, new SqliteSessionStore({ file }), each);
  }, 600_000);

  test(
    LONG_CASE,
    async () => runLongCase(new SqliteStateStore({ file: join(await temporaryFolder(), 'state.db') })),
    600_000,
  );
});
