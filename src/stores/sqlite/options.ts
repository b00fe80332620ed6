import { type Clock, MAX_TIMER_MS, systemClock } from '../../internal/clock.js';
import { clock, fullText, required } from '../../internal/options/rules.js';
import {
  type OptionRule,
  type OptionRules,
  type OptionTable,
  validateOptions,
} from '../../internal/options/validate.js';

/** Options that both SQLite stores share. */
export interface SqliteStoreOptions {
  /** Path of the database file; created if missing. Both kinds of stores, and several processes, may share the file. */
  readonly file: string;
  /** Milliseconds that a call waits while another process writes to the file. Default: 5,000. */
  readonly timeoutMs?: number | undefined;
  /** The clock that decides when data expire. Default: the system clock. */
  readonly clock?: Clock | undefined;
}

/** Options of a SqliteSessionStore. */
export interface SqliteSessionStoreOptions extends SqliteStoreOptions {
  /** Milliseconds until a session expires and is deleted, after its last load or save. Default: never. */
  readonly ttlMs?: number | undefined;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const MAX_TTL_MS = 1000 * 365 * DAY_MS;

export const storeRules = {
  file: required(fullText),
  timeoutMs: wholeMs(MAX_TIMER_MS),
  clock,
} satisfies OptionTable<SqliteStoreOptions>;

export const sessionStoreRules = {
  ...storeRules,
  ttlMs: {
    expected: `a whole number of milliseconds from 1 to ${MAX_TTL_MS}, or Infinity`,
    accepts: (value) => value === Number.POSITIVE_INFINITY || wholeMs(MAX_TTL_MS).accepts(value),
  },
} satisfies OptionTable<SqliteSessionStoreOptions>;

/** Checks the options and fills in the defaults. Throws an OptionInvalidError if an option is invalid. */
export function resolveSqliteOptions(options: SqliteSessionStoreOptions, rules: OptionRules) {
  validateOptions(options, rules);
  const { file, timeoutMs = 5_000, clock = systemClock, ttlMs = Number.POSITIVE_INFINITY } = options;
  return { file, timeoutMs, clock, ttlMs };
}

function wholeMs(most: number): OptionRule {
  const accepts = (value: unknown) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most;
  return { expected: `a whole number of milliseconds from 1 to ${most}`, accepts };
}
