import type { Pool } from 'pg';

/** Replaces the clock of the stores in a schema by one that a test can move. Returns the function that moves the clock. */
export async function movablePostgresClock(pool: Pool, schema = 'keelson'): Promise<(ms: number) => Promise<void>> {
  let offset = 0;
  const replace = () =>
    pool.query(`CREATE OR REPLACE FUNCTION "${schema}".now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint + ${offset}'`);
  await replace();
  return async (ms) => {
    offset += Math.ceil(ms);
    await replace();
  };
}

/** Replaces the clock of the stores by one that stands still until a test moves it. */
export async function frozenPostgresClock(pool: Pool, schema = 'keelson'): Promise<(ms: number) => Promise<void>> {
  let now = 1_700_000_000_000;
  const replace = () =>
    pool.query(`CREATE OR REPLACE FUNCTION "${schema}".now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS
      'SELECT ${now}::bigint'`);
  await replace();
  return async (ms) => {
    now += ms;
    await replace();
  };
}
