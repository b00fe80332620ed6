export { StateKeyError } from '../../state/state-key.js';
export type {
  IoRedisClient,
  NodeRedisClient,
  NodeRedisCluster,
  NodeRedisSentinel,
  RedisClient,
} from './client.js';
export { RedisDataError, RedisUnavailableError } from './error.js';
export type { RedisSessionStoreOptions, RedisStoreOptions } from './options.js';
export { RedisSessionStore } from './session-store.js';
export { RedisStateStore } from './state-store.js';
