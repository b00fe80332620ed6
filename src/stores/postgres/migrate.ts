import { validateOptions } from '../../internal/options/validate.js';
import type { PostgresClient } from './client.js';
import { PostgresConnection } from './connection.js';
import { migrateRules, type PostgresMigrateOptions } from './options.js';
import { migrationSql } from './schema/migration.js';

/**
 * Creates the PostgreSQL schema of the stores, or upgrades it to the version of this package. Keeps all data. Does
 * nothing if the schema is current or newer.
 *
 * Several processes may call it at once: one of them migrates, and the others wait.
 *
 * @example
 * const pool = new Pool({ connectionString: process.env.DATABASE_URL });
 * await migrate(pool);
 */
export async function migrate(client: PostgresClient, options: PostgresMigrateOptions = {}): Promise<void> {
  validateOptions(options, migrateRules);
  const { schema = 'keelson', timeoutMs = 60_000 } = options;
  await new PostgresConnection({ client, schema, timeoutMs }).send(migrationSql(schema), []);
}
