import { anything, required, text, withMethods } from '../../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../../internal/options/validate.js';
import { type RunLogLimits, resolveRunLogLimits, runLogLimitRules } from '../../state/run-log/limits.js';
import { lifetimeMs, wholeMs } from '../../state/time-rules.js';
import type { RedisClient, RedisSubscriber } from './client.js';

/** Options of a store on Redis. */
export interface RedisStoreOptions {
  /**
   * A connected client of `@redis/client`, `redis` or `ioredis`. It may connect to a cluster or use sentinels. The store
   * never closes it.
   */
  readonly client: RedisClient;
  /** The start of every key name. Default: `keelson`. */
  readonly prefix?: string | undefined;
  /** Time limit of one call in milliseconds, even while the client reconnects. Default: 5,000. */
  readonly timeoutMs?: number | undefined;
}

/** Options of a session store on Redis. */
export interface RedisSessionStoreOptions extends RedisStoreOptions {
  /** Milliseconds until a session expires and is deleted, after its last use. Default: never. */
  readonly ttlMs?: number | undefined;
  /**
   * A second connected client, which only subscribes. With it, posts are announced on a channel of their session, and
   * `watch` listens. Pass one in all processes. The store never closes it. Default: none, and the store has no `watch`.
   */
  readonly subscriber?: RedisSubscriber | undefined;
}

/** Options of a run log on Redis. */
export interface RedisRunLogOptions extends RedisStoreOptions, RunLogLimits {
  /**
   * A second connected client, which only subscribes. With it, appends are announced on a channel of their run, and a read
   * that waits listens. Pass one in all processes. The log never closes it. Default: none, and such a read only looks.
   */
  readonly subscriber?: RedisSubscriber | undefined;
  /** Milliseconds between two looks of a read that waits. Default: 200. */
  readonly pollMs?: number | undefined;
}

const storeRules = {
  client: required(anything),
  prefix: text,
  timeoutMs: wholeMs(),
} satisfies OptionTable<RedisStoreOptions>;

const sessionStoreRules = {
  ...storeRules,
  subscriber: withMethods('subscribe', 'unsubscribe'),
  ttlMs: lifetimeMs,
} satisfies OptionTable<RedisSessionStoreOptions>;

const runLogRules = {
  ...storeRules,
  ...runLogLimitRules,
  subscriber: withMethods('subscribe', 'unsubscribe'),
  pollMs: wholeMs(),
} satisfies OptionTable<RedisRunLogOptions>;

/** Checks the options of a state store and fills in the defaults. Throws an OptionInvalidError if one is invalid. */
export function resolveStateStoreOptions(options: RedisStoreOptions) {
  validateOptions(options, storeRules);
  const { client, prefix = 'keelson', timeoutMs = 5_000 } = options;
  return { client, prefix, timeoutMs };
}

/** Checks the options of a session store and fills in the defaults. Throws an OptionInvalidError if one is invalid. */
export function resolveSessionStoreOptions(options: RedisSessionStoreOptions) {
  validateOptions(options, sessionStoreRules);
  const { ttlMs = Number.POSITIVE_INFINITY, subscriber, ...others } = options;
  return { ...resolveStateStoreOptions(others), ttlMs, subscriber };
}

/** Checks the options of a run log and fills in the defaults. Throws an OptionInvalidError if one is invalid. */
export function resolveRunLogOptions(options: RedisRunLogOptions) {
  validateOptions(options, runLogRules);
  const { maxBytes, ttlMs, pollMs = 200, subscriber, ...others } = options;
  return { ...resolveStateStoreOptions(others), ...resolveRunLogLimits({ maxBytes, ttlMs }), pollMs, subscriber };
}
