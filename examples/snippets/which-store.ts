import assert from 'node:assert/strict';
import { Agent, type JsonValue, MemorySessionStore } from 'keelson';
import { extensions, MemoryStateStore } from 'keelson/extension';
import { migrate, PostgresSessionStore, PostgresStateStore } from 'keelson/postgres';
import { type SqliteClient, SqliteSessionStore, SqliteStateStore } from 'keelson/sqlite';
import type { RunLog, RunOutcome, SessionStore } from 'keelson/store';
import { runLogContract, scriptedModel, sessionStoreContract, stateStoreContract } from 'keelson/testing';
import { MemoryRunLog } from 'keelson/ui';
import postgres from 'postgres';

const model = scriptedModel(() => 'Aye.');

export function inSqlite() {
  // #region sqlite
  const store = new SqliteSessionStore({ file: './data/agent.db', ttlMs: 30 * 24 * 3600 * 1000 });
  const state = new SqliteStateStore({ file: './data/agent.db' });
  const agent = new Agent({ model, store, loaders: [extensions([], { state })] });
  // #endregion
  return agent;
}

declare const Database: new (file: string) => SqliteClient;

export function inOpenSqlite() {
  // #region sqlite-client
  const store = new SqliteSessionStore({ client: new Database('./data/agent.db') });
  // #endregion
  return store;
}

export async function inPostgres(url: string) {
  // #region postgres-js
  const sql = postgres(url);
  await migrate(sql, { schema: 'agents' });
  const store = new PostgresSessionStore({ client: sql, schema: 'agents' });
  const state = new PostgresStateStore({ client: sql, schema: 'agents' });
  // #endregion
  return { store, state };
}

const sent: JsonValue[] = [];
const send = (event: JsonValue) => void sent.push(event);

// #region follow
/** Sends the events of a run from an offset on, until its log is closed. */
async function follow(log: RunLog, run: string, from: number): Promise<RunOutcome | undefined> {
  let next = from;
  for (;;) {
    const page = await log.read(run, next, { waitMs: 15_000 });
    for (const { event } of page?.events ?? []) send(event);
    if (page === undefined || page.outcome !== undefined) return page?.outcome;
    next += page.events.length;
    await log.touch(run);
  }
}
// #endregion

const log = new MemoryRunLog();
log.append('r', 0, ['a', 'b']);
const following = follow(log, 'r', 1);
log.append('r', 2, ['c']);
log.close('r', 'done');
assert.equal(await following, 'done');
assert.deepEqual(sent, ['b', 'c']);

class MyStore extends MemorySessionStore implements SessionStore {}
class MyStateStore extends MemoryStateStore {}
class MyRunLog extends MemoryRunLog {}

const found: string[] = [];
const test = (name: string, _run: () => Promise<void>) => found.push(name);

// #region contract
for (const { name, run } of sessionStoreContract({ open: () => new MyStore() })) test(name, run);
for (const { name, run } of stateStoreContract({ open: () => new MyStateStore() })) test(name, run);
for (const { name, run } of runLogContract({ open: () => new MyRunLog() })) test(name, run);
// #endregion
assert.ok(found.length > 60);
