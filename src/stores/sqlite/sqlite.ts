/**
 * Stores for sessions and extension state in a SQLite file.
 *
 * @packageDocumentation
 */
export { SqliteUnavailableError, SqliteUnsupportedError } from './error.js';
export type { SqliteClient, SqliteStatement } from './module.js';
export type { SqliteSessionStoreOptions, SqliteStoreOptions } from './options.js';
export { SqliteSessionStore } from './session-store.js';
export { SqliteStateStore } from './state-store.js';
