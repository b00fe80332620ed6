import fc from 'fast-check';
import { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate, PostgresStateStore } from '../../../src/stores/postgres/postgres.js';
import { anySteps, outcomesOf } from '../../support/state/state-model.js';
import { describeWithPostgres } from '../../support/stores/describe-postgres.js';
import { frozenPostgresClock } from '../../support/stores/postgres-clock.js';
import { type PostgresServer, startPostgres } from '../../support/stores/postgres-server.js';

describeWithPostgres('the state in PostgreSQL', () => {
  let server: PostgresServer;
  let pool: Pool;
  let pass: (ms: number) => Promise<void>;

  beforeAll(async () => {
    server = await startPostgres();
    pool = new Pool({ ...server.settings, max: 2 });
    await migrate(pool);
    pass = await frozenPostgresClock(pool);
  });

  afterAll(async () => {
    await pool.end();
    server.remove();
  });

  test('any sequence of calls has the results of the reference store', async () => {
    await fc.assert(
      fc.asyncProperty(anySteps, async (steps) => {
        await pool.query('TRUNCATE keelson.state_sessions CASCADE');
        const [found, expected] = await outcomesOf(steps, {
          open: () => new PostgresStateStore({ client: pool }),
          pass,
        });
        expect(found).toEqual(expected);
      }),
      { numRuns: 20 },
    );
  }, 600_000);

  test('keeps the sizes of scopes and sessions equal to the sums of their values', async () => {
    const store = new PostgresStateStore({ client: pool });
    const policy = { ttlMs: 5, sessionTtlMs: 50, extensionBytes: 20, sessionBytes: 30 };
    for (let at = 0; at < 60; at += 1) {
      const scope = { extension: `e${at % 3}`, session: 's' };
      await store.set(
        scope,
        { key: `${at % 7}`, value: 'x'.repeat(at % 9) },
        at % 2 ? policy : { ...policy, ttlMs: 50 },
      );
      if (at % 11 === 0) await store.clear(scope, `${(at + 1) % 7}`);
      if (at % 5 === 0) await pass(3);
    }
    await store.touch('s', policy);

    const { rows } = await pool.query(`SELECT
      (SELECT bytes FROM keelson.state_sessions WHERE key = 's')::int AS session,
      (SELECT sum(bytes) FROM keelson.state_scopes)::int AS scopes,
      (SELECT sum(keys) FROM keelson.state_scopes)::int AS keys,
      (SELECT sum(bytes) FROM keelson.state_values)::int AS bytes,
      (SELECT count(*) FROM keelson.state_values)::int AS count`);
    const { session, scopes, keys, bytes, count } = rows[0];
    expect([session, scopes, keys]).toEqual([bytes, bytes, count]);
    expect(bytes).toBeGreaterThan(0);
  });

  test('expired sessions are removed by later writes', async () => {
    const store = new PostgresStateStore({ client: pool });
    const brief = { ttlMs: 1, sessionTtlMs: 1, extensionBytes: 20, sessionBytes: 30 };
    for (let at = 0; at < 6; at += 1) {
      await store.set({ extension: 'e', session: `${at}` }, { key: 'k', value: 'x' }, brief);
      await pass(10);
    }

    const { rows } = await pool.query('SELECT count(*)::int AS count FROM keelson.state_sessions');
    expect(rows).toEqual([{ count: 1 }]);
  });
});
