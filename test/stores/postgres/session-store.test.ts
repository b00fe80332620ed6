import { Client, Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate, PostgresSessionStore, PostgresStateStore } from '../../../src/stores/postgres/postgres.js';
import { describeWithPostgres } from '../../support/stores/describe-postgres.js';
import { type PostgresServer, startPostgres } from '../../support/stores/postgres-server.js';

const said = (content: string) => ({ role: 'user', content }) as const;
const policy = { ttlMs: 60_000, sessionTtlMs: 60_000, extensionBytes: 100_000, sessionBytes: 100_000 };

describeWithPostgres('a session in PostgreSQL', () => {
  let server: PostgresServer;
  let pool: Pool;
  let store: PostgresSessionStore;

  beforeAll(async () => {
    server = await startPostgres();
    pool = new Pool({ ...server.settings, max: 4 });
    await migrate(pool);
    store = new PostgresSessionStore({ client: pool });
  });

  afterAll(async () => {
    await pool.end();
    server.remove();
  });

  test('has one row per message, and a save writes only new rows', async () => {
    const long = Array.from({ length: 10_000 }, (_, at) => said(`${at}`));
    await store.save('long', { keep: 0, append: long }, 0);
    const places = async () =>
      (
        await pool.query(`SELECT position, messages.ctid FROM keelson.messages JOIN keelson.sessions ON serial = session
        WHERE id = 'long' AND position < 9000 ORDER BY position`)
      ).rows;
    const before = await places();

    expect(await store.save('long', { keep: 10_000, append: [said('more')] }, 1)).toBe(2);
    expect(await store.save('long', { keep: 9_000, append: [said('less')] }, 2)).toBe(3);

    expect(await places()).toEqual(before);
    expect((await store.load('long'))?.messages).toEqual([...long.slice(0, 9_000), said('less')]);
  });

  test('a conditional load and a save of a long session use an index', async () => {
    const plan = await pool.query(
      `EXPLAIN (FORMAT JSON) SELECT position + 1 FROM keelson.messages WHERE session = 1 AND revision <= 1
       ORDER BY position DESC LIMIT 1`,
    );
    expect(JSON.stringify(plan.rows)).toContain('messages_pkey');
  });

  test('reports rows that are damaged or missing', async () => {
    await store.save('hurt', { keep: 0, append: [said('1'), said('2')] }, 0);
    const hurt = `session = (SELECT serial FROM keelson.sessions WHERE id = 'hurt') AND position = 1`;
    await pool.query(`UPDATE keelson.messages SET body = '{' WHERE ${hurt}`);
    await expect(store.load('hurt')).rejects.toMatchObject({ code: 'ERR_POSTGRES_DATA', session: 'hurt' });

    await pool.query(`DELETE FROM keelson.messages WHERE ${hurt}`);

    await expect(store.load('hurt')).rejects.toMatchObject({
      code: 'ERR_POSTGRES_DATA',
      message: expect.stringContaining('2 messages were saved, and 1 are stored'),
    });
  });

  test('refuses a message that JSON cannot represent, and changes nothing', async () => {
    const loop: Record<string, unknown> = { role: 'user', content: 'x' };
    loop.loop = loop;

    await expect(store.save('loop', { keep: 0, append: [loop as never] }, 0)).rejects.toMatchObject({
      code: 'ERR_MESSAGE_INVALID',
    });
    expect(await store.load('loop')).toBe(undefined);
  });

  test('repeats a statement that the server has rolled back because of a concurrent one', async () => {
    const strict = new Pool({ ...server.settings, max: 4, options: '-c default_transaction_isolation=serializable' });
    const state = new PostgresStateStore({ client: strict });

    const changes = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        state.set({ extension: 'e', session: 'strict' }, { key: `${at}`, value: 'x' }, policy),
      ),
    );

    expect(changes.every(({ stored }) => stored)).toBe(true);
    expect((await state.stats('strict')).bytes).toBe(50);
    await strict.end();
  });

  test('works with one connected client, and with an id of any length', async () => {
    const client = new Client(server.settings);
    await client.connect();
    const single = new PostgresSessionStore({ client });
    const ids = Array.from({ length: 3 }, (_, at) => `${'random '.repeat(500)}${Math.random()}${at}`);

    for (const id of ids) await single.save(id, { keep: 0, append: [said(id)], details: { owner: ids[0] } }, 0);

    const { sessions } = await single.list({ owner: ids[0] ?? '' });
    expect(sessions.map(({ id }) => id).sort()).toEqual([...ids].sort());
    await client.end();
  });

  test('expired sessions are removed by later saves', async () => {
    const brief = new PostgresSessionStore({ client: pool, ttlMs: 1 });
    for (let at = 0; at < 5; at += 1) await brief.save(`brief ${at}`, { keep: 0, append: [said('x')] }, 0);
    for (let at = 0; at < 5; at += 1) await store.save(`after ${at}`, { keep: 0, append: [] }, 0);

    const { rows } = await pool.query(`SELECT count(*)::int AS count FROM keelson.sessions WHERE id LIKE 'brief%'`);
    expect(rows).toEqual([{ count: 0 }]);
  });

  test.each([{}, { client: null }, { client: {} }, { client: { query: 1 } }])('refuses the options %j', (options) => {
    expect(() => new PostgresSessionStore(options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_OPTION_INVALID', option: 'client' }),
    );
  });

  test.each([0, 1.5, -1, Number.NaN, '5'])('refuses `ttlMs: %s`', (ttlMs) => {
    expect(() => new PostgresSessionStore({ client: pool, ttlMs: ttlMs as never })).toThrow(
      expect.objectContaining({ code: 'ERR_OPTION_INVALID', option: 'ttlMs' }),
    );
  });
});
