import { Pool } from 'pg';
import postgres from 'postgres';
import { afterAll, beforeAll } from 'vitest';
import { migrate, PostgresSessionStore, PostgresStateStore } from '../../../src/stores/postgres/postgres.js';
import { testSessionStore } from '../../support/state/session-store-contract.js';
import { LONG_CASE, testStateStore } from '../../support/state/state-store-contract.js';
import { describeWithPostgres } from '../../support/stores/describe-postgres.js';
import { movablePostgresClock } from '../../support/stores/postgres-clock.js';
import { type PostgresServer, startPostgres } from '../../support/stores/postgres-server.js';

describeWithPostgres('on a real PostgreSQL', () => {
  let server: PostgresServer;
  let pool: Pool;
  let sql: ReturnType<typeof postgres>;
  let pass: (ms: number) => Promise<void>;

  beforeAll(async () => {
    server = await startPostgres();
    pool = new Pool({ ...server.settings, max: 4 });
    sql = postgres(server.url, { max: 4, onnotice: () => {} });
    await migrate(pool);
    pass = await movablePostgresClock(pool);
  });

  afterAll(async () => {
    await sql.end();
    await pool.end();
    server.remove();
  });

  const empty = () => pool.query('TRUNCATE keelson.sessions, keelson.state_sessions CASCADE');

  testStateStore(
    'PostgresStateStore on pg',
    async () => {
      await empty();
      return { store: new PostgresStateStore({ client: pool }), pass };
    },
    { includes: (title) => title !== LONG_CASE },
  );
  testSessionStore(
    'PostgresSessionStore on postgres',
    async () => {
      await empty();
      return new PostgresSessionStore({ client: sql, ttlMs: 60_000 });
    },
    { ttlMs: 60_000, pass: (ms) => pass(ms) },
  );
});
