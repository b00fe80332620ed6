import { Client, Pool } from 'pg';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate, PostgresSessionStore, PostgresStateStore } from '../../../src/stores/postgres/postgres.js';
import { migrationSql, steps } from '../../../src/stores/postgres/schema/migration.js';
import { describeWithPostgres } from '../../support/stores/describe-postgres.js';
import { type PostgresServer, startPostgres } from '../../support/stores/postgres-server.js';

const said = (content: string) => ({ role: 'user', content }) as const;
const policy = { ttlMs: 60_000, sessionTtlMs: 60_000, extensionBytes: 100, sessionBytes: 100 };

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

  test('upgrades a schema by one version, and keeps all data', async () => {
    await pool.query(migrationSql('upgraded', steps.length - 1));
    await pool.query(
      `INSERT INTO upgraded.sessions (key, id, uid, revision, owner, title, created_at, updated_at)
       VALUES ('a', 'a', 'u1', 3, 'ada', 'Ships', 1, 2), ('b', 'b', 'u2', 1, 'ada', NULL, 1, 1)`,
    );
    await pool.query(
      `INSERT INTO upgraded.messages SELECT 1, at, at / 2 + 1, json_build_object('role', 'user', 'content', at::text)
       FROM generate_series(0, 4) AS at`,
    );
    await pool.query(`INSERT INTO upgraded.state_sessions (key, bytes, ends_at) VALUES ('s', 2, 9e15)`);
    await pool.query(`INSERT INTO upgraded.state_scopes VALUES (1, 'e', 'e', 2, 1)`);
    await pool.query(`INSERT INTO upgraded.state_values VALUES (1, 'e', 'k', 'k', 'v', 2, 0, NULL)`);
    const options = { client: pool, schema: 'upgraded' };
    await expect(new PostgresSessionStore(options).load('a')).rejects.toMatchObject({ code: 'ERR_POSTGRES_SCHEMA' });

    await migrate(pool, { schema: 'upgraded' });

    const store = new PostgresSessionStore(options);
    expect(await versionsIn('upgraded')).toEqual([steps.length - 1, steps.length]);
    expect((await store.list({ owner: 'ada' })).sessions).toMatchObject([
      { id: 'a', title: 'Ships', revision: 3, length: 5 },
      { id: 'b', revision: 1, length: 0 },
    ]);
    expect(await store.load('a', { uid: 'u1', revision: 1 })).toMatchObject({
      keep: 2,
      messages: ['2', '3', '4'].map(said),
    });
    expect(await store.save('a', { keep: 5, append: [said('5')] }, 3)).toBe(4);
    const state = new PostgresStateStore(options);
    expect(await state.get({ extension: 'e', session: 's' }, 'k', policy)).toBe('v');
  });

  test('eight concurrent calls through several clients create one schema', async () => {
    const sql = postgres(server.url, { max: 4, onnotice: () => {} });

    await Promise.all(Array.from({ length: 8 }, (_, at) => migrate(at % 2 === 0 ? pool : sql, { schema: 'shared' })));

    expect(await versionsIn('shared')).toEqual([steps.length]);
    await sql.end();
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
    expect(await store.save('s', { keep: 0, append: [said('1')] }, 0)).toBe(1);
    expect(await versionsIn('current')).toEqual([steps.length, 99]);
    await client.end();
  });

  test('two schemas of one database share nothing', async () => {
    for (const schema of ['One', 'Two']) await migrate(pool, { schema });
    const [one, two] = ['One', 'Two'].map((schema) => new PostgresSessionStore({ client: pool, schema }));

    await one?.save('s', { keep: 0, append: [said('1')] }, 0);

    expect(await two?.load('s')).toBe(undefined);
    expect(await one?.load('s')).toMatchObject({ messages: [said('1')] });
  });

  test.each(['a b', 'a"b', '1a', '', 'x'.repeat(64)])('refuses the schema name %j', async (schema) => {
    await expect(migrate(pool, { schema })).rejects.toMatchObject({ code: 'ERR_OPTION_INVALID', option: 'schema' });
    expect(() => new PostgresSessionStore({ client: pool, schema })).toThrow(/`?schema`?/);
  });
});
