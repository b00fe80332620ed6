import { Pool } from 'pg';
import { test } from 'vitest';
import { migrate, PostgresSessionStore } from '../../../src/stores/postgres/postgres.js';
import { describeWithPostgres } from '../../support/stores/describe-postgres.js';
import { frozenPostgresClock } from '../../support/stores/postgres-clock.js';
import { startPostgres } from '../../support/stores/postgres-server.js';
import { checkSameAsMemory } from '../../support/stores/same-as-memory.js';

describeWithPostgres('the session store of PostgreSQL', () => {
  test('gives the answers of the memory store to any sequence of calls', async () => {
    const server = await startPostgres();
    const pool = new Pool({ ...server.settings, max: 1 });
    await migrate(pool);
    const pass = await frozenPostgresClock(pool);
    const store = new PostgresSessionStore({ client: pool });
    const open = async () => {
      await store.delete('s');
      const { rows } = await pool.query('SELECT keelson.now_ms()::double precision AS now');
      return { store, pass, now: rows[0].now };
    };

    await checkSameAsMemory(open, 200);

    await pool.end();
    server.remove();
  }, 120_000);
});
