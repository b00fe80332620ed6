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
  /** Prefix of all keys of the store. Default: `keelson`. */
  readonly prefix?: string | undefined;
  /** Time limit of one call in milliseconds, including the time to reconnect. Default: 5,000. */
  readonly timeoutMs?: number | undefined;
}

/** Options of a session store on Redis. */
export interface RedisSessionStoreOptions extends RedisStoreOptions {
  /** Milliseconds after its last use until a session expires and is deleted. Default: never. */
  readonly ttlMs?: number | undefined;
  /**
   * A second connected client, used only for subscriptions. With it, a run receives posts of other processes at once,
   * such as messages and stops. Pass one in all processes, because a store without one does not announce its posts. The
   * store never closes it. Default: none.
   */
  readonly subscriber?: RedisSubscriber | undefined;
}

/** Options of a run log on Redis. */
export interface RedisRunLogOptions extends RedisStoreOptions, RunLogLimits {
  /**
   * A second connected client, used only for subscriptions. With it, a waiting read receives new events at once. Pass
   * one in all processes, because a log without one does not announce its events. The log never closes it. Default:
   * none.
   */
  readonly subscriber?: RedisSubscriber | undefined;
  /** Milliseconds between two queries while a read waits for new events. Default: 200. */
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

/**
 * Checks the options of a state store and applies the defaults. Throws an OptionInvalidError if an option is invalid.
 */
export function resolveStateStoreOptions(options: RedisStoreOptions) {
  validateOptions(options, storeRules);
  const { client, prefix = 'keelson', timeoutMs = 5_000 } = options;
  return { client, prefix, timeoutMs };
}

/**
 * Checks the options of a session store and applies the defaults. Throws an OptionInvalidError if an option is invalid.
 */
export function resolveSessionStoreOptions(options: RedisSessionStoreOptions) {
  validateOptions(options, sessionStoreRules);
  const { ttlMs = Number.POSITIVE_INFINITY, subscriber, ...others } = options;
  return { ...resolveStateStoreOptions(others), ttlMs, subscriber };
}

/** Checks the options of a run log and applies the defaults. Throws an OptionInvalidError if an option is invalid. */
export function resolveRunLogOptions(options: RedisRunLogOptions) {
  validateOptions(options, runLogRules);
  const { maxBytes, ttlMs, pollMs = 200, subscriber, ...others } = options;
  return { ...resolveStateStoreOptions(others), ...resolveRunLogLimits({ maxBytes, ttlMs }), pollMs, subscriber };
}
