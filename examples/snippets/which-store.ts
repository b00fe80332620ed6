import assert from 'node:assert/strict';
import { Agent, MemorySessionStore, type SessionStore } from 'keelson';
import { extensions, MemoryStateStore } from 'keelson/extension';
import { migrate, PostgresSessionStore, PostgresStateStore } from 'keelson/postgres';
import { type SqliteClient, SqliteSessionStore, SqliteStateStore } from 'keelson/sqlite';
import { scriptedModel, sessionStoreContract, stateStoreContract } from 'keelson/testing';
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

class MyStore extends MemorySessionStore implements SessionStore {}
class MyStateStore extends MemoryStateStore {}

const found: string[] = [];
const test = (name: string, _run: () => Promise<void>) => found.push(name);

// #region contract
for (const { name, run } of sessionStoreContract({ open: () => new MyStore() })) test(name, run);
for (const { name, run } of stateStoreContract({ open: () => new MyStateStore() })) test(name, run);
// #endregion
assert.ok(found.length > 60);
