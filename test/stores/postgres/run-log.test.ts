import { migrate, PostgresRunLog } from 'keelson/postgres';
import { Pool } from 'pg';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testRunLog } from '../../support/state/run-log-contract.js';
import { describeWithPostgres } from '../../support/stores/describe-postgres.js';
import { frozenPostgresClock, movablePostgresClock } from '../../support/stores/postgres-clock.js';
import { type PostgresServer, startPostgres } from '../../support/stores/postgres-server.js';
import { checkFollowed } from '../../support/stores/run-log/followed.js';
import { checkSameLogAsMemory, comparedLimits } from '../../support/stores/run-log/same-as-memory.js';

describeWithPostgres('a run log in PostgreSQL', () => {
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

  const limits = { maxBytes: 200_000, ttlMs: 60_000 };
  testRunLog('PostgresRunLog', {
    ...limits,
    async open() {
      await pool.query('TRUNCATE keelson.run_logs CASCADE');
      return new PostgresRunLog({ client: pool, pollMs: 10, ...limits });
    },
    reopen: () => new PostgresRunLog({ client: sql, pollMs: 10, ...limits }),
    pass: (ms) => pass(ms),
  });

  test('is followed by another process from any offset, and each event is read once and in order', async () => {
    await checkFollowed('postgres', server.url);
  }, 60_000);

  test('gives the answers of the memory log to any sequence of calls', async () => {
    await migrate(pool, { schema: 'compared' });
    const passFrozen = await frozenPostgresClock(pool, 'compared');
    await checkSameLogAsMemory(async () => {
      await pool.query('TRUNCATE compared.run_logs CASCADE');
      const log = new PostgresRunLog({ client: pool, schema: 'compared', ...comparedLimits });
      return { log, pass: passFrozen };
    }, 200);
  }, 120_000);

  test('keeps no rows of events that are gone, or of expired logs after new ones', async () => {
    await pool.query('TRUNCATE keelson.run_logs CASCADE');
    const log = new PostgresRunLog({ client: pool, maxBytes: 30, ttlMs: 60_000 });
    const rows = async () => (await pool.query('SELECT FROM keelson.run_events')).rows.length;
    for (let first = 0; first < 20; first += 1) await log.append('a', first, ['x'.repeat(8)]);
    expect(await rows()).toBe(3);

    await pass(61_000);
    await log.append('b', 0, []);

    expect(await rows()).toBe(0);
    expect((await pool.query('SELECT key FROM keelson.run_logs')).rows).toEqual([{ key: 'b' }]);
  });

  test('needs a migrated schema, and known options', async () => {
    const log = new PostgresRunLog({ client: pool, schema: 'absent' });

    await expect(log.append('a', 0, [])).rejects.toMatchObject({ code: 'ERR_POSTGRES_SCHEMA' });
    await expect(log.read('a', 0)).rejects.toMatchObject({ code: 'ERR_POSTGRES_SCHEMA' });
    expect(() => new PostgresRunLog({ client: pool, maxLen: 1 } as never)).toThrow('unknown option `maxLen`');
  });
});
