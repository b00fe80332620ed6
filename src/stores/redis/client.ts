import { invalidOption } from '../../internal/options/validate.js';

/** A client or a client pool of `@redis/client` or `redis`, version 5 or newer. */
export interface NodeRedisClient {
  /** Sends a command. Resolves to the reply. */
  sendCommand(args: string[], options?: { abortSignal?: AbortSignal }): Promise<unknown>;
}

/** A cluster client of `@redis/client` or `redis`, version 5 or newer. */
interface NodeRedisCluster {
  /** Sends a command to the node that stores `firstKey`. Resolves to the reply. */
  sendCommand(
    ...call: [firstKey: string, isReadonly: boolean, args: string[], options?: { abortSignal?: AbortSignal }]
  ): Promise<unknown>;
  /** Only cluster clients have this method, so it identifies them. */
  getSlotRandomNode(slot: number): unknown;
}

/** A sentinel client of `@redis/client` or `redis`, version 5 or newer. */
interface NodeRedisSentinel {
  /** Sends a command to the master. Resolves to the reply. */
  sendCommand(isReadonly: boolean, args: string[], options?: { abortSignal?: AbortSignal }): Promise<unknown>;
  /** Only sentinel clients have this method, so it identifies them. */
  getSentinelNode(): unknown;
}

/** A `Redis` or `Cluster` client of `ioredis`, version 5 or newer. */
export interface IoRedisClient {
  /** Sends a command. Resolves to the reply. */
  call(command: string, args: string[]): Promise<unknown>;
}

/**
 * A connected client of `@redis/client`, `redis` or `ioredis`. The stores attach no listeners to it and never close it.
 */
export type RedisClient = NodeRedisClient | NodeRedisCluster | NodeRedisSentinel | IoRedisClient;

/**
 * A client of `@redis/client` or `redis` that is used only for subscriptions: a single client, a cluster or a sentinel
 * client.
 */
interface NodeRedisSubscriber {
  /** Calls the listener for each message of a channel. */
  subscribe(channel: string, listener: (message: unknown, channel: unknown) => void): Promise<unknown>;
  /** Removes the listener. */
  unsubscribe(channel: string, listener: (message: unknown, channel: unknown) => void): Promise<unknown>;
}

/** A `Redis` or `Cluster` client of `ioredis` that is used only for subscriptions. A store adds one listener to it. */
interface IoRedisSubscriber extends IoRedisClient {
  /** Subscribes to a channel. */
  subscribe(channel: string): Promise<unknown>;
  /** Ends the subscription. */
  unsubscribe(channel: string): Promise<unknown>;
  /** Adds a listener for the messages of all channels. */
  on(event: 'message', listener: (channel: string) => void): unknown;
}

/** A connected client of `@redis/client`, `redis` or `ioredis` that is used only for subscriptions. */
export type RedisSubscriber = NodeRedisSubscriber | IoRedisSubscriber;

/** Returns true for a client of ioredis. */
export function isIoRedis<T extends object>(client: T): client is Extract<T, { call: unknown }> {
  return has(client, 'call');
}

/**
 * Sends one command. `firstKey` selects the node of a cluster. After `signal` aborts, a client that supports signals no
 * longer sends a command that is still in its queue.
 */
export type SendCommand = (firstKey: string, args: string[], signal: AbortSignal) => Promise<unknown>;

/** Returns a function that sends commands through a client of `@redis/client`, `redis` or `ioredis`. */
export function sendCommandOf(client: RedisClient): SendCommand {
  if (isIoRedis(client)) return (_firstKey, [command = '', ...args]) => client.call(command, args);
  if (!has(client, 'sendCommand')) {
    throw invalidOption('client', 'a connected client of @redis/client, redis or ioredis', client);
  }
  const redis = client as NodeRedisClient & NodeRedisCluster & NodeRedisSentinel;
  if (has(client, 'getSlotRandomNode')) {
    return (firstKey, args, abortSignal) => redis.sendCommand(firstKey, false, args, { abortSignal });
  }
  if (has(client, 'getSentinelNode'))
    return (_firstKey, args, abortSignal) => redis.sendCommand(false, args, { abortSignal });
  return (_firstKey, args, abortSignal) => redis.sendCommand(args, { abortSignal });
}

/**
 * Returns the key prefix that a store must add to its keys itself. Clients of `@redis/client` do not add their
 * `keyPrefix` to commands that are sent directly. Returns an empty string for ioredis, which adds its prefix to all
 * commands.
 */
export function keyPrefixOf(client: RedisClient): string {
  const prefix = (client as { readonly _keyPrefix?: string | Uint8Array })._keyPrefix ?? '';
  return typeof prefix === 'string' ? prefix : new TextDecoder().decode(prefix);
}

function has(client: unknown, method: string): boolean {
  if (client === null || typeof client !== 'object') return false;
  return typeof (client as Readonly<Record<string, unknown>>)[method] === 'function';
}
