/**
 * Stores for sessions and extension state in PostgreSQL.
 *
 * @packageDocumentation
 */
export { StateKeyError } from '../../state/state-key.js';
export type { PgClient, PgStatement, PostgresClient, PostgresJsClient, PostgresJsQuery } from './client.js';
export { PostgresDataError, PostgresSchemaError, PostgresUnavailableError } from './error.js';
export { migrate } from './migrate.js';
export type {
  PostgresMigrateOptions,
  PostgresRunLogOptions,
  PostgresSessionStoreOptions,
  PostgresStoreOptions,
} from './options.js';
export { PostgresRunLog } from './run-log.js';
export { PostgresSessionStore } from './session-store.js';
export { PostgresStateStore } from './state-store.js';
