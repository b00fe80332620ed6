export type { IoRedisClient, NodeRedisClient, RedisClient, RedisSubscriber } from './client.js';
export { RedisUnavailableError } from './error.js';
export type { RedisRunLogOptions, RedisSessionStoreOptions, RedisStoreOptions } from './options.js';
export { RedisRunLog } from './run-log/run-log.js';
export { RedisSessionStore } from './session-store.js';
export { RedisStateStore } from './state-store.js';
