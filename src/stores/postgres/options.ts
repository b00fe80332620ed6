import { anything, required } from '../../internal/options/rules.js';
import { type OptionRules, type OptionTable, validateOptions } from '../../internal/options/validate.js';
import { type RunLogLimits, runLogLimitRules } from '../../state/run-log/limits.js';
import { lifetimeMs, wholeMs } from '../../state/time-rules.js';
import type { PostgresClient } from './client.js';

/** Options of `migrate`. */
export interface PostgresMigrateOptions {
  /**
   * Name of the PostgreSQL schema for all tables and functions: a letter or `_`, then letters, digits and `_`. Default:
   * `keelson`.
   */
  readonly schema?: string | undefined;
  /** Time limit of the migration in milliseconds. Default: 60,000. */
  readonly timeoutMs?: number | undefined;
}

/** Options of a store on PostgreSQL. */
export interface PostgresStoreOptions {
  /** A client of `pg` or `postgres`. The store never closes it. */
  readonly client: PostgresClient;
  /** Name of the schema that `migrate` has created. Default: `keelson`. */
  readonly schema?: string | undefined;
  /** Time limit of one call in milliseconds, including the time to connect. Default: 5,000. */
  readonly timeoutMs?: number | undefined;
}

/** Options of a session store on PostgreSQL. */
export interface PostgresSessionStoreOptions extends PostgresStoreOptions {
  /** Milliseconds after its last load, claim, append or post until a session expires and is deleted. Default: never. */
  readonly ttlMs?: number | undefined;
}

/** Options of a run log on PostgreSQL. */
export interface PostgresRunLogOptions extends PostgresStoreOptions, RunLogLimits {
  /** Milliseconds between two queries while a read waits for new events. Default: 200. */
  readonly pollMs?: number | undefined;
}

export const migrateRules = {
  schema: {
    expected: 'a letter or `_`, then at most 62 letters, digits and `_`',
    accepts: (value) => typeof value === 'string' && /^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(value),
  },
  timeoutMs: wholeMs(),
} satisfies OptionTable<PostgresMigrateOptions>;

export const storeRules = { ...migrateRules, client: required(anything) } satisfies OptionTable<PostgresStoreOptions>;

export const sessionStoreRules = {
  ...storeRules,
  ttlMs: lifetimeMs,
} satisfies OptionTable<PostgresSessionStoreOptions>;

export const runLogRules = {
  ...storeRules,
  ...runLogLimitRules,
  pollMs: wholeMs(),
} satisfies OptionTable<PostgresRunLogOptions>;

/** Checks the options of a store and applies the defaults. Throws an OptionInvalidError if an option is invalid. */
export function resolveStoreOptions(options: PostgresSessionStoreOptions, rules: OptionRules) {
  validateOptions(options, rules);
  const { client, schema = 'keelson', timeoutMs = 5_000, ttlMs = Number.POSITIVE_INFINITY } = options;
  return { client, schema, timeoutMs, ttlMs };
}
