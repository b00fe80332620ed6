import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Entry } from 'keelson';
import type { SessionStore } from 'keelson/store';
import { describe, expect, test } from 'vitest';
import type { SqliteHandle } from '../../../src/stores/sqlite/module.js';
import { resolveSqliteOptions, storeRules } from '../../../src/stores/sqlite/options.js';
import { SqliteSessionStore, SqliteStateStore } from '../../../src/stores/sqlite/sqlite.js';
import { describeEachSqlite, describeWithSqlite } from '../../support/stores/sqlite.js';
import { temporaryFolder } from '../../support/stores/temporary-folder.js';

const policy = { ttlMs: 60_000, sessionTtlMs: 60_000, extensionBytes: 100, sessionBytes: 100 };
const scope = { extension: 'e', session: 's' };
const claim = { token: 'x', run: 'x', ttlMs: 60_000 };

/** An entry with a message. Its id is the text. */
function said(text: string): Entry {
  return { id: text, at: 1, body: { type: 'message', message: { role: 'user', content: text } } };
}

/** Adds an entry behind `length` others. */
async function add(store: SessionStore, text: string, length: number) {
  await store.claim('s', claim);
  return store.append('s', { token: 'x', length, entries: [said(text)] });
}

describeEachSqlite('a file of SQLite', ({ connect, optionsFor }) => {
  const newFile = async () => join(await temporaryFolder(), 'keelson.db');

  test('of a newer version is refused', async () => {
    const file = join(await temporaryFolder(), 'new.db');
    const newer = connect(file);
    newer.exec('PRAGMA user_version = 99');
    newer.close();

    await expect(new SqliteSessionStore(optionsFor(file)).load('s')).rejects.toMatchObject({
      code: 'ERR_SQLITE_DATA',
      message: expect.stringContaining('its version is 99'),
    });
  });

  test('is flushed to the disk by an append, and not by a claim or its renewal', async () => {
    const handle = connect(await newFile());
    const commits: unknown[] = [];
    const exec = (text: string) => {
      if (text === 'COMMIT') commits.push(handle.prepare('PRAGMA synchronous').get());
      return handle.exec(text);
    };
    const store = new SqliteSessionStore({ client: { exec, prepare: (text) => handle.prepare(text) } });
    await store.load('s');
    commits.length = 0;

    await store.claim('s', claim);
    await store.renew('s', claim);
    await store.append('s', { token: 'x', length: 0, entries: [said('1')] });

    const [normal, full] = [1, 2].map((synchronous) => ({ synchronous }));
    expect(commits).toEqual([normal, normal, full]);
    handle.close();
  });

  test('that another connection writes to is waited for, without blocking the process', async () => {
    const file = await newFile();
    const store = new SqliteSessionStore(optionsFor(file));
    await add(store, '1', 0);
    const other = connect(file);
    other.exec('BEGIN IMMEDIATE');

    const added = store.append('s', { token: 'x', length: 1, entries: [said('2')] });
    expect((await store.load('s'))?.length).toBe(1);
    other.exec('COMMIT');

    expect(await added).toMatchObject({ owned: true, length: 2 });
    other.close();
  });

  test('that stays locked makes a call fail within its time limit, and later calls succeed', async () => {
    const file = await newFile();
    const store = new SqliteSessionStore({ ...optionsFor(file), timeoutMs: 50 });
    const state = new SqliteStateStore({ ...optionsFor(file), timeoutMs: 50 });
    await add(store, '1', 0);
    const other = connect(file);
    other.exec('BEGIN IMMEDIATE');
    const began = performance.now();
    const busy = { code: 'ERR_SQLITE_UNAVAILABLE', file, retryable: true };
    await expect(add(store, '2', 1)).rejects.toMatchObject(busy);
    await expect(state.set(scope, { key: 'k', value: 'v' }, policy)).rejects.toMatchObject(busy);
    // Without `timeoutMs`, a call may take five seconds.
    expect(performance.now() - began).toBeLessThan(5_000);
    other.close();

    expect(await add(store, '2', 1)).toMatchObject({ owned: true, length: 2 });
  });

  test('with other content than a database is refused', async () => {
    const file = join(await temporaryFolder(), 'text.db');
    writeFileSync(file, 'not a database'.repeat(1000));

    await expect(new SqliteSessionStore(optionsFor(file)).load('s')).rejects.toMatchObject({
      code: 'ERR_SQLITE_UNAVAILABLE',
      retryable: false,
    });
  });

  test.skipIf(process.getuid?.() === 0)('that is read-only refuses an append', async () => {
    const file = await newFile();
    const first = new SqliteSessionStore(optionsFor(file));
    await add(first, '1', 0);
    first.close();
    chmodSync(file, 0o400);

    await expect(add(new SqliteSessionStore(optionsFor(file)), '2', 1)).rejects.toMatchObject({
      code: 'ERR_SQLITE_UNAVAILABLE',
      retryable: false,
    });
  });

  test('that is full refuses an append, keeps its data, and accepts appends when there is space', async () => {
    const file = await newFile();
    const store = new SqliteSessionStore(optionsFor(file));
    await add(store, '1', 0);
    const { handle } = (store as unknown as { database: { opened: { handle: SqliteHandle } } }).database.opened;
    handle.exec('PRAGMA max_page_count = 30');

    await expect(add(store, 'x'.repeat(200_000), 1)).rejects.toMatchObject({
      code: 'ERR_SQLITE_UNAVAILABLE',
      retryable: false,
      message: expect.stringContaining('free space'),
    });

    expect(await store.load('s')).toMatchObject({ length: 1, entries: [said('1')] });
    expect(await add(store, '2', 1)).toMatchObject({ owned: true, length: 2 });
  });

  test('can be closed and used again', async () => {
    const file = await newFile();
    const store = new SqliteSessionStore(optionsFor(file));
    await add(store, '1', 0);
    store.close();
    store.close();

    expect(await store.load('s')).toMatchObject({ entries: [said('1')] });
  });

  test('reports a row that is damaged', async () => {
    const file = await newFile();
    const store = new SqliteSessionStore(optionsFor(file));
    await add(store, '1', 0);
    const other = connect(file);
    other.exec(`UPDATE entries SET body = '{'`);
    other.close();

    await expect(store.load('s')).rejects.toMatchObject({ code: 'ERR_SQLITE_DATA', file });
  });
});

describeWithSqlite('the path of a file of SQLite', () => {
  test('may be in a directory that is missing', async () => {
    const store = new SqliteSessionStore({ file: join(await temporaryFolder(), 'deep', 'er', 'x.db') });

    expect(await add(store, '1', 0)).toMatchObject({ owned: true, length: 1 });
  });

  test('is refused below another file', async () => {
    const file = join(await temporaryFolder(), 'text');
    writeFileSync(file, '');

    await expect(new SqliteSessionStore({ file: join(file, 'x.db') }).load('s')).rejects.toMatchObject({
      code: 'ERR_SQLITE_UNAVAILABLE',
      retryable: false,
    });
  });
});

describeEachSqlite('a client', ({ connect }) => {
  test('serves several stores, and stays open when they close', async () => {
    const client = connect(join(await temporaryFolder(), 'x.db'));
    const sessions = new SqliteSessionStore({ client });
    const state = new SqliteStateStore({ client });
    await add(sessions, '1', 0);
    await state.set(scope, { key: 'k', value: 'v' }, policy);
    sessions.close();

    expect(await state.get(scope, 'k', policy)).toBe('v');
    expect(await sessions.load('s')).toMatchObject({ entries: [said('1')] });
  });

  test('that is closed makes a call fail', async () => {
    const client = connect(join(await temporaryFolder(), 'x.db'));
    client.close();

    await expect(new SqliteSessionStore({ client }).load('s')).rejects.toMatchObject({
      code: 'ERR_SQLITE_UNAVAILABLE',
      retryable: false,
    });
  });
});

describe('the options of a SQLite store', () => {
  const client = { exec: () => {}, prepare: () => ({ run: () => ({ changes: 0 }), get: () => {}, all: () => [] }) };

  test.each([{ file: '' }, { file: 1 }, { client: 'x.db' }, { client: { exec: () => {} } }, { client, ttl: 1 }])(
    '%j are refused',
    (options) => {
      expect(() => new SqliteSessionStore(options as never)).toThrow(
        expect.objectContaining({ code: 'ERR_OPTION_INVALID' }),
      );
    },
  );

  test('have a time limit of five seconds and no lifetime of sessions by default', () => {
    const ttlMs = Number.POSITIVE_INFINITY;
    expect(resolveSqliteOptions({ file: 'x.db' }, storeRules)).toMatchObject({ timeoutMs: 5_000, ttlMs });
  });

  test.each([SqliteSessionStore, SqliteStateStore])('%o needs one of file and client', (Store) => {
    const refused = (got: string) =>
      expect.objectContaining({
        code: 'ERR_OPTION_INVALID',
        message: expect.stringContaining(`exactly one of \`file\` and \`client\` must be set, got ${got}`),
      });

    expect(() => new Store({})).toThrow(refused('neither'));
    expect(() => new Store({ file: 'x.db', client })).toThrow(refused('both'));
  });
});
