import { Client, Pool } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Entry } from '../../../src/state/record/entry.js';
import { migrate, PostgresSessionStore, PostgresStateStore } from '../../../src/stores/postgres/postgres.js';
import { added, entryOf, posted } from '../../../src/testing/contract/session/subject.js';
import { describeWithPostgres } from '../../support/stores/describe-postgres.js';
import { type PostgresServer, startPostgres } from '../../support/stores/postgres-server.js';

const claim = { token: 'x', run: 'x', ttlMs: 60_000 };
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

  test('reads as many rows for a claim, an append and a post, however many entries it has', async () => {
    const client = await pool.connect();
    onTestFinished(() => client.release());
    const single = new PostgresSessionStore({ client });
    /** Returns the number of entries that this connection has read and written. */
    const touched = async () => {
      const { rows } = await client.query(
        `SELECT (seq_tup_read + coalesce(idx_tup_fetch, 0) + n_tup_ins + n_tup_upd + n_tup_del)::int AS count
         FROM pg_stat_xact_user_tables WHERE schemaname = 'keelson' AND relname = 'entries'`,
      );
      return rows[0].count;
    };
    const rowsOf = async (call: () => Promise<unknown>) => {
      // The server may reset these numbers after each transaction.
      await client.query('BEGIN');
      const before = await touched();
      await call();
      const count = (await touched()) - before;
      await client.query('COMMIT');
      return count;
    };
    const costs: number[][] = [];

    for (const length of [500, 5_000]) {
      const id = `long ${length}`;
      const entries = Array.from({ length }, (_, at) => entryOf(`${at}`));
      await single.claim(id, claim);
      await single.append(id, { token: 'x', length: 0, entries, context: length - 2, release: true });
      costs.push([
        await rowsOf(() => single.claim(id, claim)),
        await rowsOf(() => single.append(id, { token: 'x', length, entries: [entryOf('more')] })),
        await rowsOf(() => single.post(id, posted('p'))),
        await rowsOf(() => single.load(id, { before: length, limit: 3 })),
      ]);
      // So that the statistics of the server do not know the second session.
      await client.query('ANALYZE keelson.entries');
    }

    const [short = [], long] = costs;
    expect(long).toEqual(short);
    expect(Math.min(...short)).toBeGreaterThan(0);
    expect(Math.max(...short)).toBeLessThan(10);
  });

  test('gives each post and each entry a place of its own, while others post from other connections', async () => {
    const writers = ['a', 'b', 'c'];
    const names = Array.from({ length: 30 }, (_, at) => `${at}`);
    await store.claim('busy', claim);
    let known = 0;
    const append = async () => {
      for (const name of names) known = await appended(known, entryOf(name));
    };
    const appended = async (length: number, entry: Entry) =>
      (await store.append('busy', { token: 'x', length, entries: [entry] })).length;

    await Promise.all([
      append(),
      ...writers.map(async (writer) => {
        for (const name of names) await store.post('busy', posted(`${writer}${name}`));
      }),
    ]);

    const ids = (await store.load('busy'))?.entries.map(({ id }) => id) ?? [];
    for (const writer of ['', ...writers]) {
      const own = ids.filter((id) => id.replace(/\d+/, '') === writer);
      expect(own).toEqual(names.map((name) => `${writer}${name}`));
    }
    expect(ids).toHaveLength(4 * names.length);
  });

  test('reports rows that are damaged or missing', async () => {
    await added(store, 'hurt', { entries: [entryOf('1'), entryOf('2')] });
    const hurt = `session = (SELECT serial FROM keelson.sessions WHERE id = 'hurt') AND position = 1`;
    await pool.query(`UPDATE keelson.entries SET body = '{' WHERE ${hurt}`);
    await expect(store.load('hurt')).rejects.toMatchObject({ code: 'ERR_POSTGRES_DATA', session: 'hurt' });

    await pool.query(`DELETE FROM keelson.entries WHERE ${hurt}`);

    const missing = {
      code: 'ERR_POSTGRES_DATA',
      message: expect.stringContaining('expected 2 entries from position 0 on, found 1'),
    };
    await expect(store.load('hurt')).rejects.toMatchObject(missing);
    await expect(store.claim('hurt', claim)).rejects.toMatchObject(missing);
    expect(await store.load('hurt', { before: 1 })).toMatchObject({ entries: [entryOf('1')] });
  });

  test('refuses an entry that JSON cannot represent, and changes nothing', async () => {
    const loop: Record<string, unknown> = { role: 'user', content: 'x' };
    loop.loop = loop;
    const entry = { id: '1', at: 1, body: { type: 'message', message: loop } } as unknown as Entry;
    await store.claim('loop', claim);

    await expect(store.append('loop', { token: 'x', length: 0, entries: [entry] })).rejects.toMatchObject({
      code: 'ERR_MESSAGE_INVALID',
    });
    expect(await store.load('loop')).toMatchObject({ length: 0 });
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

  test('works with one connected client, and with ids of any length', async () => {
    const client = new Client(server.settings);
    await client.connect();
    const listeners = () => client.eventNames().map((name) => [name, client.listenerCount(name)]);
    const before = listeners();
    const single = new PostgresSessionStore({ client });
    const ids = Array.from({ length: 3 }, (_, at) => `${'random '.repeat(500)}${Math.random()}${at}`);

    for (const id of ids)
      await added(single, id, { entries: [entryOf(id), posted(`${id}p`)], details: { owner: ids[0] } });

    const { sessions } = await single.list({ owner: ids[0] ?? '' });
    expect(sessions.map(({ id }) => id).sort()).toEqual([...ids].sort());
    const [id = ''] = ids;
    expect(await single.post(id, posted(id))).toEqual({ added: false });
    expect(await single.load(id)).toMatchObject({ entries: [entryOf(id), posted(`${id}p`)] });
    expect(listeners()).toEqual(before);
    expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    await client.end();
  });

  test('entries are stored unencrypted', async () => {
    await added(store, 'plain', { entries: [entryOf('Land in sight.')] });

    const { rows } = await pool.query(
      `SELECT body::text FROM keelson.entries WHERE body::text LIKE '%Land in sight.%'`,
    );
    expect(rows).toHaveLength(1);
  });

  test('expired sessions are removed by later appends', async () => {
    const brief = new PostgresSessionStore({ client: pool, ttlMs: 1 });
    for (let at = 0; at < 5; at += 1) await brief.claim(`brief ${at}`, claim);
    for (let at = 0; at < 5; at += 1) await added(store, `after ${at}`, { entries: [entryOf('x')] });

    const { rows } = await pool.query(`SELECT count(*)::int AS count FROM keelson.sessions WHERE id LIKE 'brief%'`);
    expect(rows).toEqual([{ count: 0 }]);
  });

  test('a load soon after an append writes nothing', async () => {
    const brief = new PostgresSessionStore({ client: pool, ttlMs: 3_600_000 });
    await added(brief, 'fresh', { entries: [entryOf('1')] });
    const version = async () => (await pool.query(`SELECT xmin FROM keelson.sessions WHERE id = 'fresh'`)).rows;
    const before = await version();

    await brief.load('fresh');

    expect(await version()).toEqual(before);
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
