import { MAX_TIMER_MS } from '../../internal/clock.js';
import { anything, required } from '../../internal/options/rules.js';
import {
  type OptionRule,
  type OptionRules,
  type OptionTable,
  validateOptions,
} from '../../internal/options/validate.js';
import { type RunLogLimits, runLogLimitRules, wholeMs as wholeTimerMs } from '../../state/run-log/limits.js';
import type { PostgresClient } from './client.js';

/** Options of `migrate`. */
export interface PostgresMigrateOptions {
  /** The schema of all tables and functions. A letter or `_`, then letters, digits and `_`. Default: `keelson`. */
  readonly schema?: string | undefined;
  /** Time limit in milliseconds. Default: 60,000. */
  readonly timeoutMs?: number | undefined;
}

/** Options of a store on PostgreSQL. */
export interface PostgresStoreOptions {
  /** A client of `pg` or `postgres`. The store never closes it. */
  readonly client: PostgresClient;
  /** The schema that `migrate` has created. Default: `keelson`. */
  readonly schema?: string | undefined;
  /** Time limit of one call in milliseconds, also while the client connects. Default: 5,000. */
  readonly timeoutMs?: number | undefined;
}

/** Options of a session store on PostgreSQL. */
export interface PostgresSessionStoreOptions extends PostgresStoreOptions {
  /** Milliseconds until a session expires and is deleted, after its last load, claim, append or post. Default: never. */
  readonly ttlMs?: number | undefined;
}

/** Options of a run log on PostgreSQL. */
export interface PostgresRunLogOptions extends PostgresStoreOptions, RunLogLimits {
  /** Milliseconds between two looks of a read that waits. Default: 200. */
  readonly pollMs?: number | undefined;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const MAX_TTL_MS = 1000 * 365 * DAY_MS;

export const migrateRules = {
  schema: {
    expected: 'a letter or `_`, then at most 62 letters, digits and `_`',
    accepts: (value) => typeof value === 'string' && /^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(value),
  },
  timeoutMs: wholeMs(MAX_TIMER_MS),
} satisfies OptionTable<PostgresMigrateOptions>;

export const storeRules = { ...migrateRules, client: required(anything) } satisfies OptionTable<PostgresStoreOptions>;

export const sessionStoreRules = {
  ...storeRules,
  ttlMs: {
    expected: `a whole number of milliseconds from 1 to ${MAX_TTL_MS}, or Infinity`,
    accepts: (value) => value === Number.POSITIVE_INFINITY || wholeMs(MAX_TTL_MS).accepts(value),
  },
} satisfies OptionTable<PostgresSessionStoreOptions>;

export const runLogRules = {
  ...storeRules,
  ...runLogLimitRules,
  pollMs: wholeTimerMs,
} satisfies OptionTable<PostgresRunLogOptions>;

/** Checks the options of a store and fills in the defaults. Throws an OptionInvalidError if one is invalid. */
export function resolveStoreOptions(options: PostgresSessionStoreOptions, rules: OptionRules) {
  validateOptions(options, rules);
  const { client, schema = 'keelson', timeoutMs = 5_000, ttlMs = Number.POSITIVE_INFINITY } = options;
  return { client, schema, timeoutMs, ttlMs };
}

function wholeMs(most: number): OptionRule {
  const accepts = (value: unknown) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most;
  return { expected: `a whole number of milliseconds from 1 to ${most}`, accepts };
}
