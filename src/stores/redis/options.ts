import { OptionInvalidError, validateNames } from '../../errors.js';
import { MAX_TIMER_MS } from '../../internal/clock.js';
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

/** The options with their defaults. */
export interface RedisSettings {
  readonly client: RedisClient;
  readonly prefix: string;
  readonly timeoutMs: number;
  readonly ttlMs: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const MAX_TTL_MS = 1000 * 365 * DAY_MS;

/** Throws an OptionInvalidError for an option that is unknown or cannot be. */
export function resolveRedisOptions(options: RedisSessionStoreOptions, known: readonly string[]): RedisSettings {
  validateNames(options, known);
  const { client, prefix = 'keelson', timeoutMs = 5000, ttlMs = DAY_MS } = options;
  if (typeof prefix !== 'string') throw new OptionInvalidError('prefix', 'it is no text.');
  if (!isWhole(timeoutMs, MAX_TIMER_MS)) {
    throw new OptionInvalidError('timeoutMs', `${String(timeoutMs)} is no time. Give whole milliseconds, 1 or more.`);
  }
  if (ttlMs !== Number.POSITIVE_INFINITY && !isWhole(ttlMs, MAX_TTL_MS)) {
    throw new OptionInvalidError(
      'ttlMs',
      `${String(ttlMs)} is no time. Give whole milliseconds, 1 or more, or Infinity.`,
    );
  }
  return { client, prefix, timeoutMs, ttlMs };
}

function isWhole(value: unknown, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most;
}
