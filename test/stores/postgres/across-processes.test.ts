import { migrate, PostgresSessionStore } from 'keelson/postgres';
import { Pool } from 'pg';
import { test } from 'vitest';
import { describeWithPostgres } from '../../support/stores/describe-postgres.js';
import { startPostgres } from '../../support/stores/postgres-server.js';
import { checkSharedTurns } from '../../support/stores/shared-turns.js';

// `npm run soak` kills each process 20 times.
describeWithPostgres('on PostgreSQL', () => {
  test('two processes that are killed once each lose no acknowledged turn', async () => {
    const server = await startPostgres();
    const pool = new Pool(server.settings);
    await migrate(pool);
    const store = new PostgresSessionStore({ client: pool });

    await checkSharedTurns({ kind: 'postgres', place: server.url }, store, { count: 25, kills: 1 });

    await pool.end();
    server.remove();
  }, 60_000);
});
