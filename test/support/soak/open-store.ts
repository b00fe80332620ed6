import { FileSessionStore } from 'keelson/file';
import { PostgresSessionStore } from 'keelson/postgres';
import { RedisSessionStore } from 'keelson/redis';
import { SqliteSessionStore } from 'keelson/sqlite';
import type { SessionStore } from 'keelson/store';
import { sqliteWays } from '../stores/sqlite-way.js';

/** A store that outlives a process. */
export type StoreKind = keyof typeof openers;

interface OpenStore {
  readonly store: SessionStore;
  close(): Promise<unknown>;
}

/** Opens a store by its folder, its file or its URL. */
export function openStore(kind: StoreKind, place: string): Promise<OpenStore> {
  return openers[kind](place);
}

const nothing = async () => {};
/** A process loads only the client that it uses, since it starts often. */
const openers = {
  async file(folder: string): Promise<OpenStore> {
    return { store: new FileSessionStore({ folder }), close: nothing };
  },
  async sqlite(file: string): Promise<OpenStore> {
    return { store: new SqliteSessionStore({ ...sqliteWays[0]?.optionsFor(file) }), close: nothing };
  },
  async redis(url: string): Promise<OpenStore> {
    const { createClient } = await import('@redis/client');
    const client = createClient({ url, socket: { reconnectStrategy: 20 } }).on('error', () => {});
    await client.connect();
    return { store: new RedisSessionStore({ client }), close: () => client.close() };
  },
  async postgres(url: string): Promise<OpenStore> {
    const { Pool } = await import('pg');
    const pool = new Pool({ connectionString: url }).on('error', () => {});
    return { store: new PostgresSessionStore({ client: pool }), close: () => pool.end() };
  },
};
