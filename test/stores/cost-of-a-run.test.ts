import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '@redis/client';
import { Agent, MemorySessionStore } from 'keelson';
import { FileSessionStore } from 'keelson/file';
import { migrate, PostgresSessionStore } from 'keelson/postgres';
import { RedisSessionStore } from 'keelson/redis';
import { type SqliteClient, SqliteSessionStore } from 'keelson/sqlite';
import type { SessionStore } from 'keelson/store';
import { scriptedModel } from 'keelson/testing';
import { Pool } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { describeWithPostgres } from '../support/stores/describe-postgres.js';
import { startPostgres } from '../support/stores/postgres-server.js';
import { describeWithRedis, startRedis } from '../support/stores/redis-server.js';
import { describeEachSqlite } from '../support/stores/sqlite.js';
import { temporaryFolder } from '../support/stores/temporary-folder.js';

/** Runs twice in a new session without tools. Returns the things that each run added to `made`. */
async function runTwice(store: SessionStore, made: readonly string[]): Promise<readonly (readonly string[])[]> {
  const agent = new Agent({ model: scriptedModel(['one', 'two']), store });
  const session = await agent.session();
  const runs: string[][] = [];
  for (const input of ['1', '2']) {
    const before = made.length;
    await session.run(input);
    runs.push(made.slice(before));
  }
  await agent.close();
  return runs;
}

/** Notes each flush of a file of this process until the test has finished. */
async function notedFlushes(folder: string): Promise<string[]> {
  const handle = await open(join(folder, 'flushes'), 'w');
  await handle.close();
  const methods = Object.getPrototypeOf(handle);
  const { sync, datasync } = methods;
  onTestFinished(() => void Object.assign(methods, { sync, datasync }));
  const flushes: string[] = [];
  const noting = (method: () => Promise<void>) =>
    function (this: unknown) {
      flushes.push('flush');
      return method.call(this);
    };
  Object.assign(methods, { sync: noting(sync), datasync: noting(datasync) });
  return flushes;
}

test('a run without tools flushes files twice, and three times more in a new conversation', async () => {
  const folder = await temporaryFolder();
  const store = new FileSessionStore({ folder: join(folder, 'sessions') });

  const flushes = await notedFlushes(folder);
  await runTwice(store, flushes);

  const runs = await runTwice(store, flushes);

  expect(runs.map(({ length }) => length)).toEqual([5, 2]);
});

describeEachSqlite('a run without tools in SQLite', ({ connect }) => {
  test('makes three transactions, and flushes those of its appends', async () => {
    const client = connect(join(await temporaryFolder(), 'sessions.db'));
    const made: string[] = [];
    let mode = '';
    const noting: SqliteClient = {
      prepare: (text) => client.prepare(text),
      exec(text) {
        mode = /synchronous = (\w+)/.exec(text)?.[1] ?? mode;
        if (text === 'COMMIT') made.push(mode);
        return client.exec(text);
      },
    };

    const runs = await runTwice(new SqliteSessionStore({ client: noting }), made);

    expect(runs.at(-1)).toEqual(['NORMAL', 'FULL', 'FULL']);
  });
});

describeWithRedis('a run without tools in Redis', () => {
  test('sends three scripts', async () => {
    const server = await startRedis();
    onTestFinished(() => server.remove());
    const client = await createClient({ url: server.url }).connect();
    const made: string[] = [];
    const sendCommand: typeof client.sendCommand = (args, options) => {
      made.push(String(args[0]));
      return client.sendCommand(args, options);
    };

    const runs = await runTwice(new RedisSessionStore({ client: { sendCommand } }), made);
    client.destroy();

    expect(runs.at(-1)).toEqual(['EVALSHA', 'EVALSHA', 'EVALSHA']);
  });
});

describeWithPostgres('a run without tools in PostgreSQL', () => {
  test('sends three statements, and the server flushes those of its appends', async () => {
    const server = await startPostgres();
    onTestFinished(() => server.remove());
    const pool = new Pool({ ...server.settings, max: 1 });
    await migrate(pool);
    const made: string[] = [];
    const query = async (statement: { readonly text: string; values?: unknown[] }) => {
      const client = await pool.connect();
      try {
        // A statement can change this setting until the end of its transaction only.
        await client.query('BEGIN');
        const result = await client.query(statement);
        made.push((await client.query('SHOW synchronous_commit')).rows[0].synchronous_commit);
        await client.query('COMMIT');
        return result;
      } finally {
        client.release();
      }
    };

    const runs = await runTwice(new PostgresSessionStore({ client: { query } }), made);
    await pool.end();

    expect(runs.at(-1)).toEqual(['off', 'on', 'on']);
  });
});

test('stores in memory announce posts, and those in files and databases do not', () => {
  const client = { exec: () => {}, prepare: () => ({ run: () => ({ changes: 0 }), get: () => {}, all: () => [] }) };
  const stores: readonly SessionStore[] = [
    new FileSessionStore({ folder: 'none' }),
    new SqliteSessionStore({ client }),
    new PostgresSessionStore({ client: { query: async () => ({ rows: [] }) } }),
  ];

  expect(stores.map(({ watch }) => watch)).toEqual([undefined, undefined, undefined]);
  expect(new MemorySessionStore().watch).toBeTypeOf('function');
});
