import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type * as Keelson from '../../src/index.js';
import type { SqliteClient } from '../../src/stores/sqlite/module.js';
import type * as Stores from '../../src/stores/store.js';
import type { Figure } from '../driver/figure.js';
import { load, withFiles, withPostgres, withRedis, withSqlite } from '../work/opened-stores.js';
import { ANSWER, fakeModel } from '../work/script.mjs';
import type { Setting } from './measurement.js';

const RUNS = 20;
const CALLS = 3;
const FLUSHES = 2;

/** Returns the total so far. */
type Count = () => number | Promise<number>;

/** A store with its counts. */
interface Counted {
  readonly name: string;
  readonly store: Stores.SessionStore;
  /** One thing that a call sends to the driver, such as a command. */
  readonly sent?: { readonly name: string; readonly count: Count };
  /** Flushes to the disk that a call waits for. */
  readonly flushes?: Count;
}

/** The calls of the store in a run without tools, what they send, and how often they flush the disk. */
export async function countSessionCalls(setting: Setting): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const count of [inMemory, inFiles, inSqlite, inRedis, inPostgres]) figures.push(...(await count(setting)));
  return figures;
}

async function inMemory(setting: Setting): Promise<Figure[]> {
  const { MemorySessionStore } = await load<typeof Keelson>(setting, 'index.js');
  return countRuns(setting, { name: 'memory', store: new MemorySessionStore() });
}

function inFiles(setting: Setting): Promise<Figure[]> {
  return withFiles(setting, async ({ FileSessionStore, folder }) => {
    const flushes = await countFlushes(folder);
    try {
      return await countRuns(setting, {
        name: 'files',
        store: new FileSessionStore({ folder }),
        flushes: flushes.count,
      });
    } finally {
      flushes.stop();
    }
  });
}

/** Counts the flushes of every file of this process. */
async function countFlushes(folder: string): Promise<{ readonly count: Count; stop(): void }> {
  const handle = await open(join(folder, 'flushes'), 'w');
  await handle.close();
  const methods = Object.getPrototypeOf(handle);
  const { sync, datasync } = methods;
  let flushes = 0;
  const counting = (method: () => Promise<void>) =>
    function (this: unknown) {
      flushes += 1;
      return method.call(this);
    };
  Object.assign(methods, { sync: counting(sync), datasync: counting(datasync) });
  return { count: () => flushes, stop: () => void Object.assign(methods, { sync, datasync }) };
}

function inSqlite(setting: Setting): Promise<Figure[]> {
  return withSqlite(setting, ({ SqliteSessionStore, client }) => {
    const counts = { transactions: 0, flushes: 0 };
    let isFull = false;
    const counting: SqliteClient = {
      prepare: (text) => client.prepare(text),
      exec(text) {
        isFull = /synchronous = (\w+)/.exec(text)?.[1] === 'FULL' || (isFull && !/synchronous = /.test(text));
        if (text === 'COMMIT') counts.transactions += 1;
        if (text === 'COMMIT' && isFull) counts.flushes += 1;
        return client.exec(text);
      },
    };
    return countRuns(setting, {
      name: 'SQLite',
      store: new SqliteSessionStore({ client: counting }),
      sent: { name: 'transactions', count: () => counts.transactions },
      flushes: () => counts.flushes,
    });
  });
}

function inRedis(setting: Setting): Promise<Figure[]> {
  return withRedis(setting, ({ RedisSessionStore, client }) => {
    let commands = 0;
    const sendCommand: typeof client.sendCommand = (args, options) => {
      commands += 1;
      return client.sendCommand(args, options);
    };
    const store = new RedisSessionStore({ client: { sendCommand } });
    return countRuns(setting, { name: 'Redis', store, sent: { name: 'commands', count: () => commands } });
  });
}

function inPostgres(setting: Setting): Promise<Figure[]> {
  return withPostgres(setting, ({ PostgresSessionStore, pool }) => {
    let statements = 0;
    const query = (statement: { readonly text: string; values?: unknown[] }) => {
      statements += 1;
      return pool.query(statement);
    };
    return countRuns(setting, {
      name: 'PostgreSQL',
      store: new PostgresSessionStore({ client: { query } }),
      sent: { name: 'statements', count: () => statements },
      flushes: async () => {
        await pool.query('SELECT pg_stat_force_next_flush()');
        const { rows } = await pool.query('SELECT wal_sync::int AS flushes FROM pg_stat_wal');
        return rows[0].flushes;
      },
    });
  });
}

async function countRuns(setting: Setting, { name, store, sent, flushes }: Counted): Promise<Figure[]> {
  const { Agent } = await load<typeof Keelson>(setting, 'index.js');
  const calls = { count: 0 };
  const session = await new Agent({ model: fakeModel(ANSWER), store: countCalls(store, calls) }).session({ id: 's' });
  await session.run('go');
  const counts: { readonly name: string; readonly count: Count; readonly bound: number }[] = [
    { name: 'calls of the store', count: () => calls.count, bound: CALLS },
  ];
  if (sent !== undefined) counts.push({ ...sent, bound: CALLS });
  if (flushes !== undefined) counts.push({ name: 'flushes', count: flushes, bound: FLUSHES });
  const before: number[] = [];
  for (const { count } of counts) before.push(await count());
  for (let run = 0; run < RUNS; run++) await session.run('go');
  const figures: Figure[] = [];
  for (const [at, { name: what, count, bound }] of counts.entries()) {
    const value = Math.round(((await count()) - (before[at] as number)) / RUNS);
    figures.push({ name: `${what} of a run in ${name}`, value, unit: '', bound });
  }
  return figures;
}

/** Returns the store, and counts the calls of its methods, except `watch`, which only adds a listener. */
function countCalls(store: Stores.SessionStore, calls: { count: number }): Stores.SessionStore {
  return new Proxy(store, {
    get(target, name) {
      const member = Reflect.get(target, name, target);
      if (typeof member !== 'function' || name === 'watch') return member;
      return (...args: readonly unknown[]) => {
        calls.count += 1;
        return member.apply(target, args);
      };
    },
  });
}
