import { Client, Pool } from 'pg';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  migrate,
  PostgresRunLog,
  PostgresSessionStore,
  PostgresStateStore,
} from '../../../src/stores/postgres/postgres.js';
import { migrationSql, steps } from '../../../src/stores/postgres/schema/migration.js';
import { added, entryOf } from '../../../src/testing/contract/session/subject.js';
import { describeWithPostgres } from '../../support/stores/describe-postgres.js';
import { type PostgresServer, startPostgres } from '../../support/stores/postgres-server.js';

const policy = { ttlMs: 60_000, sessionTtlMs: 60_000, extensionBytes: 100, sessionBytes: 100 };

const sees = (image: unknown) => ({
  role: 'user',
  content: [
    { type: 'text', text: '","bytes":[[0]]}' },
    { type: 'image', image, mediaType: 'image/png' },
  ],
});
const finds = (image: unknown) => {
  const content = [
    { type: 'image', image },
    { type: 'image', image },
    { type: 'text', text: '\0 \\1' },
  ];
  return {
    role: 'tool',
    content: [{ type: 'tool-result', id: 'c', name: 't', content, structured: [{ n: 1, bytes: [1] }] }],
  };
};
const bytes = new Uint8Array([0, 1, 254, 255]);
/** The JSON of messages in version 2, and the messages. */
const storedMessages: readonly (readonly [string, object])[] = [
  ['{"role":"user","content":"0"}', { role: 'user', content: '0' }],
  // A NUL and a half of an emoji, which `jsonb` refuses.
  [String.raw`{"role":"user","content":"\u0000 \ud83d \" '"}`, { role: 'user', content: '\0 \ud83d " \'' }],
  [JSON.stringify({ packed: sees('AAH+/w=='), bytes: [[1]] }), sees(bytes)],
  [
    JSON.stringify({
      packed: finds('AAH+/w=='),
      bytes: [
        [0, 0],
        [0, 1],
      ],
    }),
    finds(bytes),
  ],
  // A member that a newer version may add.
  ['{"packed":{"role":"user","content":"x","packed":1},"bytes":[]}', { role: 'user', content: 'x', packed: 1 }],
];

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

  test('upgrades versions with messages, and keeps all data', async () => {
    for (const version of [1, 2]) {
      const schema = `from_${version}`;
      await pool.query(migrationSql(schema, version));
      await pool.query(`INSERT INTO ${schema}.sessions (key, id, uid, revision, owner, title, created_at, updated_at)
        VALUES ('a', 'a', 'u1', 3, 'ada', 'Ships', 1, 2), ('b', 'b', 'u2', 1, 'ada', NULL, 1, 1)`);
      await pool.query(`INSERT INTO ${schema}.messages VALUES (1, 0, 1, '{"role":"user","content":"0"}')`);
      if (version > 1) await pool.query(`UPDATE ${schema}.sessions SET length = 1 WHERE key = 'a'`);
      await pool.query(`INSERT INTO ${schema}.state_sessions (key, bytes, ends_at) VALUES ('s', 2, 9e15)`);
      await pool.query(`INSERT INTO ${schema}.state_scopes VALUES (1, 'e', 'e', 2, 1)`);
      await pool.query(`INSERT INTO ${schema}.state_values VALUES (1, 'e', 'k', 'k', 'v', 2, 0, NULL)`);
      const options = { client: pool, schema };
      await expect(new PostgresSessionStore(options).load('a')).rejects.toMatchObject({ code: 'ERR_POSTGRES_SCHEMA' });

      await migrate(pool, { schema });

      const store = new PostgresSessionStore(options);
      expect(await versionsIn(schema)).toEqual([version, steps.length]);
      expect((await store.list({ owner: 'ada' })).sessions).toEqual([
        { id: 'a', owner: 'ada', title: 'Ships', length: 1, createdAt: 1, updatedAt: 2 },
      ]);
      expect(await store.load('a')).toMatchObject({ uid: 'u1', entries: [{ id: '0', at: 2 }] });
      const state = new PostgresStateStore(options);
      expect(await state.get({ extension: 'e', session: 's' }, 'k', policy)).toBe('v');
    }
  });

  test('adds the run log to version 3, and keeps all data', async () => {
    await pool.query(migrationSql('from_3', 3));
    await pool.query(`INSERT INTO from_3.sessions (key, id, uid, length, created_at, updated_at)
      VALUES ('a', 'a', 'u', 1, 1, 1)`);
    await pool.query(`INSERT INTO from_3.entries VALUES (1, 0, '{"id":"1"}', '1')`);

    await migrate(pool, { schema: 'from_3' });

    const options = { client: pool, schema: 'from_3' };
    expect(await versionsIn('from_3')).toEqual([3, steps.length]);
    expect(await new PostgresSessionStore(options).load('a')).toMatchObject({ uid: 'u', entries: [{ id: '1' }] });
    expect(await new PostgresRunLog(options).append('r', 0, ['x'])).toMatchObject({ appended: true, end: 1 });
  });

  test('turns each message of version 2 into an entry that follows the one before it', async () => {
    await pool.query(migrationSql('messages', 2));
    await pool.query(`INSERT INTO messages.sessions (key, id, uid, revision, length, created_at, updated_at, claim,
      claimed_until) VALUES ('a', 'a', 'u', 3, ${storedMessages.length}, 1, 7, 'old', 9e15)`);
    for (const [at, [body]] of storedMessages.entries()) {
      await pool.query('INSERT INTO messages.messages VALUES (1, $1, 1, $2)', [at, body]);
    }

    await migrate(pool, { schema: 'messages' });

    const store = new PostgresSessionStore({ client: pool, schema: 'messages' });
    const entries = storedMessages.map(([, message], at) => ({
      id: `${at}`,
      ...(at > 0 && { parent: `${at - 1}` }),
      at: 7,
      body: { type: 'message', message },
    }));
    expect(await store.load('a')).toEqual({ uid: 'u', length: storedMessages.length, offset: 0, entries });
    expect(await added(store, 'a', { entries: [entryOf('0'), entryOf('new')] })).toMatchObject({
      length: storedMessages.length + 1,
    });
  });

  test('removes the functions of version 2, and keeps the rights on its tables', async () => {
    await pool.query(migrationSql('granted', 2));
    await pool.query(
      `CREATE FUNCTION granted.session_renew(text, text, text) RETURNS SETOF text LANGUAGE sql AS 'SELECT NULL';
       CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA granted TO reader;
       GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA granted TO reader`,
    );

    await migrate(pool, { schema: 'granted' });

    const { rows } = await pool.query(`SELECT FROM pg_proc WHERE oid::regproc::text = 'granted.session_renew'`);
    expect(rows).toHaveLength(1);
    const client = new Client({ ...server.settings, user: 'reader' });
    await client.connect();
    const store = new PostgresSessionStore({ client, schema: 'granted' });
    expect(await added(store, 's', { entries: [entryOf('1')] })).toMatchObject({ stored: true });
    await client.end();
  });

  test('eight concurrent calls through several clients create one schema', async () => {
    const sql = postgres(server.url, { max: 4, onnotice: () => {} });

    await Promise.all(Array.from({ length: 8 }, (_, at) => migrate(at % 2 === 0 ? pool : sql, { schema: 'shared' })));

    expect(await versionsIn('shared')).toEqual([steps.length]);
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
    expect(await added(store, 's', { entries: [entryOf('1')] })).toMatchObject({ stored: true });
    expect(await versionsIn('current')).toEqual([steps.length, 99]);
    await client.end();
  });

  test('two schemas of one database share nothing', async () => {
    for (const schema of ['One', 'Two']) await migrate(pool, { schema });
    const one = new PostgresSessionStore({ client: pool, schema: 'One' });
    const two = new PostgresSessionStore({ client: pool, schema: 'Two' });

    await added(one, 's', { entries: [entryOf('1')] });

    expect(await two.load('s')).toBe(undefined);
    expect(await one.load('s')).toMatchObject({ entries: [entryOf('1')] });
  });

  test.each(['a b', 'a"b', '1a', '', 'x'.repeat(64)])('refuses the schema name %j', async (schema) => {
    await expect(migrate(pool, { schema })).rejects.toMatchObject({ code: 'ERR_OPTION_INVALID', option: 'schema' });
    expect(() => new PostgresSessionStore({ client: pool, schema })).toThrow(/`?schema`?/);
  });
});
