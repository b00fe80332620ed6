import { Client, Pool } from 'pg';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate, PostgresSessionStore } from '../../../src/stores/postgres/postgres.js';
import { VERSION } from '../../../src/stores/postgres/schema/migration.js';
import { added, said } from '../../../src/testing/contract/session/subject.js';
import { describeWithPostgres } from '../../support/stores/describe-postgres.js';
import { type PostgresServer, startPostgres } from '../../support/stores/postgres-server.js';

describeWithPostgres('migrate', () => {
  let server: PostgresServer;
  let pool: Pool;

  beforeAll(async () => {
    server = await startPostgres();
    pool = new Pool({ ...server.settings, max: 4 });
  });

  afterAll(async () => {
    await pool.end();
    server.remove();
  });

  const versionsIn = async (schema: string) =>
    (await pool.query(`SELECT version FROM "${schema}".versions ORDER BY version`)).rows.map(({ version }) => version);

  test('a store without a schema refuses each call, and names what to call', async () => {
    const store = new PostgresSessionStore({ client: pool, schema: 'absent' });

    await expect(store.load('s')).rejects.toMatchObject({
      code: 'ERR_POSTGRES_SCHEMA',
      schema: 'absent',
      message: expect.stringContaining('Call `migrate(client)` first'),
    });
  });

  test('eight concurrent calls through several clients create one schema', async () => {
    const sql = postgres(server.url, { max: 4, onnotice: () => {} });

    await Promise.all(Array.from({ length: 8 }, (_, at) => migrate(at % 2 === 0 ? pool : sql, { schema: 'shared' })));

    expect(await versionsIn('shared')).toEqual([VERSION]);
    await sql.end();
  });

  test('causes no notices, which a client may print', async () => {
    const notices: unknown[] = [];
    const sql = postgres(server.url, { onnotice: (notice) => notices.push(notice) });

    await migrate(sql, { schema: 'quiet' });

    await sql.end();
    expect(notices).toEqual([]);
  });

  test('changes nothing in a current or newer schema, and needs no right to create', async () => {
    await migrate(pool, { schema: 'current' });
    await pool.query(
      `CREATE ROLE app LOGIN; GRANT USAGE ON SCHEMA current TO app;
       GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA current TO app`,
    );
    await pool.query('INSERT INTO current.versions VALUES (99)');
    const client = new Client({ ...server.settings, user: 'app' });
    await client.connect();

    await migrate(client, { schema: 'current' });

    const store = new PostgresSessionStore({ client, schema: 'current' });
    expect(await added(store, 's', { entries: [said('1')] })).toMatchObject({ stored: true });
    expect(await versionsIn('current')).toEqual([VERSION, 99]);
    await client.end();
  });

  test('two schemas of one database share nothing', async () => {
    for (const schema of ['One', 'Two']) await migrate(pool, { schema });
    const one = new PostgresSessionStore({ client: pool, schema: 'One' });
    const two = new PostgresSessionStore({ client: pool, schema: 'Two' });

    await added(one, 's', { entries: [said('1')] });

    expect(await two.load('s')).toBe(undefined);
    expect(await one.load('s')).toMatchObject({ entries: [said('1')] });
  });

  test.each(['a b', 'a"b', '1a', '', 'x'.repeat(64)])('refuses the schema name %j', async (schema) => {
    await expect(migrate(pool, { schema })).rejects.toMatchObject({ code: 'ERR_OPTION_INVALID', option: 'schema' });
    expect(() => new PostgresSessionStore({ client: pool, schema })).toThrow(/`?schema`?/);
  });
});
