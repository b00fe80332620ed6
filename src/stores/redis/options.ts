import { MAX_TIMER_MS } from '../../internal/clock.js';
import { anything, required, text } from '../../internal/options/rules.js';
import { type OptionRule, type OptionTable, validateOptions } from '../../internal/options/validate.js';
import type { RedisClient } from './client.js';

/** What a store on Redis needs. */
export interface RedisStoreOptions {
  /** A connected client of `@redis/client`, `redis` or `ioredis`, also of a cluster or behind sentinels. It stays yours: close it yourself. */
  readonly client: RedisClient;
  /** What the name of every key begins with. Default: `keelson`. */
  readonly prefix?: string | undefined;
  /** How long one call may take, in milliseconds, also where the client waits for Redis to come back. Default: 5,000. */
  readonly timeoutMs?: number | undefined;
}

/** What a session store on Redis needs. */
export interface RedisSessionStoreOptions extends RedisStoreOptions {
  /** How long a session lives after it was last loaded or saved, in milliseconds; `Infinity` for ever. Default: 24 hours. */
  readonly ttlMs?: number | undefined;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const MAX_TTL_MS = 1000 * 365 * DAY_MS;

const storeRules = {
  client: required(anything),
  prefix: text,
  timeoutMs: wholeMs(MAX_TIMER_MS),
} satisfies OptionTable<RedisStoreOptions>;

const sessionStoreRules = {
  ...storeRules,
  ttlMs: {
    expected: `whole milliseconds from 1 to ${MAX_TTL_MS}, or Infinity`,
    accepts: (value) => value === Number.POSITIVE_INFINITY || wholeMs(MAX_TTL_MS).accepts(value),
  },
} satisfies OptionTable<RedisSessionStoreOptions>;

/** Checks the options of a state store and fills their defaults. Throws an OptionInvalidError. */
export function resolveStateStoreOptions(options: RedisStoreOptions) {
  validateOptions(options, storeRules);
  const { client, prefix = 'keelson', timeoutMs = 5_000 } = options;
  return { client, prefix, timeoutMs };
}

/** The same for a session store. */
export function resolveSessionStoreOptions(options: RedisSessionStoreOptions) {
  validateOptions(options, sessionStoreRules);
  const { ttlMs = DAY_MS, ...others } = options;
  return { ...resolveStateStoreOptions(others), ttlMs };
}

function wholeMs(most: number): OptionRule {
  const accepts = (value: unknown) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most;
  return { expected: `whole milliseconds from 1 to ${most}`, accepts };
}
