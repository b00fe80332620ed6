import { chmodSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { SqliteHandle } from '../../../src/stores/sqlite/module.js';
import { steps } from '../../../src/stores/sqlite/schema.js';
import { SqliteSessionStore, SqliteStateStore } from '../../../src/stores/sqlite/sqlite.js';
import { describeWithSqlite } from '../../support/stores/sqlite.js';
import { temporaryFolder } from '../../support/stores/temporary-folder.js';

const said = (content: string) => ({ role: 'user', content }) as const;
const policy = { ttlMs: 60_000, sessionTtlMs: 60_000, extensionBytes: 100, sessionBytes: 100 };
const scope = { extension: 'e', session: 's' };

/** Opens a file as another program would. */
function openFile(file: string): SqliteHandle {
  const { DatabaseSync } = createRequire(import.meta.url)('node:sqlite');
  return new DatabaseSync(file);
}

describeWithSqlite('a file of SQLite', () => {
  const newFile = async () => join(await temporaryFolder(), 'deep', 'keelson.db');

  test('is upgraded by one version, and keeps all data', async () => {
    const file = join(await temporaryFolder(), 'old.db');
    const old = openFile(file);
    for (const step of steps.slice(0, -1)) old.exec(step);
    old.exec(`PRAGMA user_version = ${steps.length - 1};
      INSERT INTO sessions (id, uid, revision, owner, title, created, updated) VALUES ('a', 'u1', 3, 'ada', 'Ships', 1, 2);
      INSERT INTO state_sessions (id, bytes, ends) VALUES ('s', 2, 9000000000000000);
      INSERT INTO state_scopes VALUES (1, 'e', 2, 1);
      INSERT INTO state_values VALUES (1, 'e', 'k', 'v', 2, 0, NULL)`);
    for (let at = 0; at < 5; at += 1) {
      const body = JSON.stringify(said(`${at}`));
      old.prepare('INSERT INTO messages VALUES (1, ?, ?, ?)').run(at, Math.floor(at / 2) + 1, body);
    }
    old.close();

    const store = new SqliteSessionStore({ file });

    expect((await store.list({ owner: 'ada' })).sessions).toMatchObject([{ id: 'a', revision: 3, length: 5 }]);
    expect(await store.load('a', { uid: 'u1', revision: 1 })).toMatchObject({
      keep: 2,
      messages: ['2', '3', '4'].map(said),
    });
    expect(await store.save('a', { keep: 5, append: [said('5')] }, 3)).toBe(4);
    expect(await new SqliteStateStore({ file }).get(scope, 'k', policy)).toBe('v');
  });

  test('of a newer version is refused', async () => {
    const file = join(await temporaryFolder(), 'new.db');
    const newer = openFile(file);
    newer.exec('PRAGMA user_version = 99');
    newer.close();

    await expect(new SqliteSessionStore({ file }).load('s')).rejects.toMatchObject({
      code: 'ERR_SQLITE_DATA',
      message: expect.stringContaining('its version is 99'),
    });
  });

  test('that another connection writes to is waited for, without blocking the process', async () => {
    const file = await newFile();
    const store = new SqliteSessionStore({ file });
    await store.save('s', { keep: 0, append: [said('1')] }, 0);
    const other = openFile(file);
    other.exec('BEGIN IMMEDIATE');

    const saved = store.save('s', { keep: 1, append: [said('2')] }, 1);
    expect((await store.load('s'))?.revision).toBe(1);
    other.exec('COMMIT');

    expect(await saved).toBe(2);
    other.close();
  });

  test('that stays locked makes a call fail within its time limit, and later calls succeed', async () => {
    const file = await newFile();
    const store = new SqliteSessionStore({ file, timeoutMs: 50 });
    const state = new SqliteStateStore({ file, timeoutMs: 50 });
    await store.save('s', { keep: 0, append: [said('1')] }, 0);
    const other = openFile(file);
    other.exec('BEGIN IMMEDIATE');
    const began = performance.now();
    const busy = { code: 'ERR_SQLITE_UNAVAILABLE', file, retryable: true };
    await expect(store.save('s', { keep: 1, append: [said('2')] }, 1)).rejects.toMatchObject(busy);
    await expect(state.set(scope, { key: 'k', value: 'v' }, policy)).rejects.toMatchObject(busy);
    // Without `timeoutMs`, a call may take five seconds.
    expect(performance.now() - began).toBeLessThan(5_000);
    other.close();

    expect(await store.save('s', { keep: 1, append: [said('2')] }, 1)).toBe(2);
  });

  test('with other content than a database is refused', async () => {
    const file = join(await temporaryFolder(), 'text.db');
    writeFileSync(file, 'not a database'.repeat(1000));

    await expect(new SqliteSessionStore({ file }).load('s')).rejects.toMatchObject({
      code: 'ERR_SQLITE_UNAVAILABLE',
      retryable: false,
    });
  });

  test.skipIf(process.getuid?.() === 0)('that is read-only refuses a save', async () => {
    const file = await newFile();
    const first = new SqliteSessionStore({ file });
    await first.save('s', { keep: 0, append: [said('1')] }, 0);
    first.close();
    chmodSync(file, 0o400);

    await expect(new SqliteSessionStore({ file }).save('s', { keep: 1, append: [] }, 1)).rejects.toMatchObject({
      code: 'ERR_SQLITE_UNAVAILABLE',
      retryable: false,
    });
  });

  test('below another file is refused', async () => {
    const file = join(await temporaryFolder(), 'text');
    writeFileSync(file, '');

    await expect(new SqliteSessionStore({ file: join(file, 'x.db') }).load('s')).rejects.toMatchObject({
      code: 'ERR_SQLITE_UNAVAILABLE',
      retryable: false,
    });
  });

  test('that is full refuses a save, keeps its data, and accepts saves when there is space', async () => {
    const file = await newFile();
    const store = new SqliteSessionStore({ file });
    await store.save('s', { keep: 0, append: [said('1')] }, 0);
    const { handle } = (store as unknown as { database: { opened: { handle: SqliteHandle } } }).database.opened;
    handle.exec('PRAGMA max_page_count = 30');

    await expect(store.save('s', { keep: 1, append: [said('x'.repeat(200_000))] }, 1)).rejects.toMatchObject({
      code: 'ERR_SQLITE_UNAVAILABLE',
      retryable: false,
      message: expect.stringContaining('free space'),
    });

    expect(await store.load('s')).toMatchObject({ revision: 1, messages: [said('1')] });
    expect(await store.save('s', { keep: 1, append: [said('2')] }, 1)).toBe(2);
  });

  test('can be closed and used again', async () => {
    const file = await newFile();
    const store = new SqliteSessionStore({ file });
    await store.save('s', { keep: 0, append: [said('1')] }, 0);
    store.close();
    store.close();

    expect(await store.load('s')).toMatchObject({ messages: [said('1')] });
  });

  test('reports a row that is damaged', async () => {
    const file = await newFile();
    const store = new SqliteSessionStore({ file });
    await store.save('s', { keep: 0, append: [said('1')] }, 0);
    const other = openFile(file);
    other.exec(`UPDATE messages SET body = '{'`);
    other.close();

    await expect(store.load('s')).rejects.toMatchObject({ code: 'ERR_SQLITE_DATA', file });
  });

  test.each([{}, { file: '' }, { file: 1 }, { file: 'x', ttl: 1 }])('refuses the options %j', (options) => {
    expect(() => new SqliteSessionStore(options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_OPTION_INVALID' }),
    );
  });
});
