/**
 * Stores for sessions, run logs and extension state in PostgreSQL.
 *
 * @packageDocumentation
 */
export type { PgClient, PostgresClient, PostgresJsClient } from './client.js';
export { PostgresSchemaError, PostgresUnavailableError } from './error.js';
export { migrate } from './migrate.js';
export type { PostgresRunLogOptions, PostgresSessionStoreOptions, PostgresStoreOptions } from './options.js';
export { PostgresRunLog } from './run-log.js';
export { PostgresSessionStore } from './session-store.js';
export { PostgresStateStore } from './state-store.js';
