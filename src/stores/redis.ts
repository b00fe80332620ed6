export { StateKeyError } from '../state/state-key.js';
export type {
  IoRedisClient,
  NodeRedisClient,
  NodeRedisCluster,
  NodeRedisSentinel,
  RedisClient,
} from './redis-client.js';
export { RedisDataError, RedisUnavailableError } from './redis-error.js';
export type { RedisSessionStoreOptions, RedisStoreOptions } from './redis-options.js';
export { RedisSessionStore } from './redis-session-store.js';
export { RedisStateStore } from './redis-state-store.js';
