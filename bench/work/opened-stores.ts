import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@redis/client';
import { Pool } from 'pg';
import type * as FileStores from '../../src/stores/file/file.js';
import type * as PostgresStores from '../../src/stores/postgres/postgres.js';
import type * as RedisStores from '../../src/stores/redis/redis.js';
import type { SqliteHandle } from '../../src/stores/sqlite/module.js';
import type * as SqliteStores from '../../src/stores/sqlite/sqlite.js';
import { hasPostgres, startPostgres } from '../../test/support/stores/postgres-server.js';
import { hasRedis, startRedis } from '../../test/support/stores/redis-server.js';
import type { Figure } from '../driver/figure.js';
import type { Setting } from '../measure/measurement.js';

/** Measures with an opened store. */
type Use<Opened> = (opened: Opened) => Promise<Figure[]>;

/** Imports an entry of the measured build. */
export async function load<Module>({ builds }: Setting, name: string): Promise<Module> {
  return import(new URL(name, builds.shipped).href);
}

/** Measures with a temporary directory. */
export async function withFiles(
  setting: Setting,
  use: Use<Pick<typeof FileStores, 'FileSessionStore'> & { readonly folder: string }>,
): Promise<Figure[]> {
  const { FileSessionStore } = await load<typeof FileStores>(setting, 'file.js');
  const folder = mkdtempSync(join(tmpdir(), 'keelson-bench-files-'));
  try {
    return await use({ FileSessionStore, folder });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Measures with a Redis server. Returns nothing if Redis is not installed. */
export async function withRedis(
  setting: Setting,
  use: Use<Pick<typeof RedisStores, 'RedisSessionStore'> & { readonly client: ReturnType<typeof redisClient> }>,
): Promise<Figure[]> {
  if (!hasRedis) return [];
  const { RedisSessionStore } = await load<typeof RedisStores>(setting, 'redis.js');
  const server = await startRedis();
  const client = redisClient(server.port);
  await client.connect();
  try {
    return await use({ RedisSessionStore, client });
  } finally {
    client.destroy();
    await server.remove();
  }
}

function redisClient(port: number) {
  return createClient({ socket: { port } });
}

/** Measures with a PostgreSQL server that writes each commit to the disk. Returns nothing if it is not installed. */
export async function withPostgres(
  setting: Setting,
  use: Use<Pick<typeof PostgresStores, 'PostgresSessionStore'> & { readonly pool: Pool }>,
): Promise<Figure[]> {
  if (!hasPostgres) return [];
  const { migrate, PostgresSessionStore } = await load<typeof PostgresStores>(setting, 'postgres.js');
  const server = await startPostgres('-c', 'fsync=on', '-c', 'full_page_writes=on');
  const pool = new Pool({ ...server.settings, max: 1 });
  try {
    await migrate(pool);
    return await use({ PostgresSessionStore, pool });
  } finally {
    await pool.end();
    server.remove();
  }
}

/** Measures with a file of SQLite. Returns nothing if the runtime has no `node:sqlite`. */
export async function withSqlite(
  setting: Setting,
  use: Use<Pick<typeof SqliteStores, 'SqliteSessionStore'> & { readonly client: SqliteHandle }>,
): Promise<Figure[]> {
  const found = process.getBuiltinModule('node:sqlite' as never);
  if (found === undefined) return [];
  const { DatabaseSync } = found as { readonly DatabaseSync: new (file: string) => SqliteHandle };
  const { SqliteSessionStore } = await load<typeof SqliteStores>(setting, 'sqlite.js');
  const folder = mkdtempSync(join(tmpdir(), 'keelson-bench-sqlite-'));
  const client = new DatabaseSync(join(folder, 'sessions.db'));
  try {
    return await use({ SqliteSessionStore, client });
  } finally {
    client.close();
    rmSync(folder, { recursive: true });
  }
}
