import { invalidOption } from '../../internal/options/validate.js';

/** A client of `@redis/client` or `redis`, from version 5 on, or a pool of them. */
export interface NodeRedisClient {
  /** Sends a command, and resolves to the reply. */
  sendCommand(args: string[], options?: { abortSignal?: AbortSignal }): Promise<unknown>;
}

/** A cluster client of `@redis/client` or `redis`, from version 5 on. */
export interface NodeRedisCluster {
  /** Sends a command to where the key is, and resolves to the reply. */
  sendCommand(
    ...call: [firstKey: string, isReadonly: boolean, args: string[], options?: { abortSignal?: AbortSignal }]
  ): Promise<unknown>;
  /** By this method a cluster is told from a single client. */
  getSlotRandomNode(slot: number): unknown;
}

/** A sentinel client of `@redis/client` or `redis`, from version 5 on. */
export interface NodeRedisSentinel {
  /** Sends a command to the master, and resolves to the reply. */
  sendCommand(isReadonly: boolean, args: string[], options?: { abortSignal?: AbortSignal }): Promise<unknown>;
  /** By this method a sentinel client is told from a single client. */
  getSentinelNode(): unknown;
}

/** A `Redis` or `Cluster` of `ioredis`, from version 5 on. */
export interface IoRedisClient {
  /** Sends a command, and resolves to the reply. */
  call(command: string, args: string[]): Promise<unknown>;
}

/** A connected client, as it is: the stores attach nothing to it, and never close it. */
export type RedisClient = NodeRedisClient | NodeRedisCluster | NodeRedisSentinel | IoRedisClient;

/** Sends one command. `firstKey` says where to in a cluster; a command that still waits to be sent when `signal` aborts is taken back where the client can. */
export type SendCommand = (firstKey: string, args: string[], signal: AbortSignal) => Promise<unknown>;

/** Sends a command through any of these clients. */
export function sendCommandOf(client: RedisClient): SendCommand {
  if (has(client, 'call')) {
    const redis = client as IoRedisClient;
    return (_firstKey, [command = '', ...args]) => redis.call(command, args);
  }
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
 * The `keyPrefix` of a client of `@redis/client`, which puts it before the keys of its own methods, but not of what is
 * sent as it is. ioredis puts it before all.
 */
export function keyPrefixOf(client: RedisClient): string {
  const prefix = (client as { readonly _keyPrefix?: string | Uint8Array })._keyPrefix ?? '';
  return typeof prefix === 'string' ? prefix : new TextDecoder().decode(prefix);
}

function has(client: unknown, method: string): boolean {
  if (client === null || typeof client !== 'object') return false;
  return typeof (client as Readonly<Record<string, unknown>>)[method] === 'function';
}
