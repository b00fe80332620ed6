import { OptionInvalidError } from '../../errors.js';
import { type Clock, systemClock } from '../../internal/clock.js';
import { clock, fullText, withMethods } from '../../internal/options/rules.js';
import { type OptionRules, type OptionTable, validateOptions } from '../../internal/options/validate.js';
import { lifetimeMs, wholeMs } from '../../state/time-rules.js';
import type { SqliteClient } from './module.js';

/** Options shared by SqliteSessionStore and SqliteStateStore. Exactly one of `file` and `client` must be set. */
export interface SqliteStoreOptions {
  /**
   * Path of the database file, which is created if it is missing. A SqliteSessionStore and a SqliteStateStore, and
   * several processes, may share the file.
   */
  readonly file?: string | undefined;
  /**
   * An open database of `better-sqlite3` or of `bun:sqlite`, for a runtime without `node:sqlite`. Several stores may
   * share it. The stores never close it.
   *
   * The stores set the pragmas and the `user_version` of the database, so it must not be used for anything else.
   */
  readonly client?: SqliteClient | undefined;
  /** Milliseconds that a call waits while another process writes to the file. Default: 5,000. */
  readonly timeoutMs?: number | undefined;
  /** The clock that decides when data expire. Default: the system clock. */
  readonly clock?: Clock | undefined;
}

/** Options of a SqliteSessionStore. */
export interface SqliteSessionStoreOptions extends SqliteStoreOptions {
  /** Milliseconds after its last use until a session expires and is deleted. Default: never. */
  readonly ttlMs?: number | undefined;
}

export const storeRules = {
  file: fullText,
  client: withMethods('exec', 'prepare'),
  timeoutMs: wholeMs(),
  clock,
} satisfies OptionTable<SqliteStoreOptions>;

export const sessionStoreRules = {
  ...storeRules,
  ttlMs: lifetimeMs,
} satisfies OptionTable<SqliteSessionStoreOptions>;

/** Checks the options and fills in the defaults. Throws an OptionInvalidError if an option is invalid. */
export function resolveSqliteOptions(options: SqliteSessionStoreOptions, rules: OptionRules) {
  validateOptions(options, rules);
  const { file, client, timeoutMs = 5_000, clock = systemClock, ttlMs = Number.POSITIVE_INFINITY } = options;
  return { place: placeOf(file, client), timeoutMs, clock, ttlMs };
}

/**
 * Returns the path of the file, or the open database. Throws an OptionInvalidError unless exactly one of them is set.
 */
function placeOf(file: string | undefined, client: SqliteClient | undefined): string | SqliteClient {
  const place = file ?? client;
  if (place !== undefined && (file === undefined || client === undefined)) return place;
  const advice = place === undefined ? 'neither: set the path of a file as `file`' : 'both: remove one of them';
  throw new OptionInvalidError('file', `exactly one of \`file\` and \`client\` must be set, got ${advice}`);
}
