import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@redis/client';
import { Redis } from 'ioredis';
import { afterAll, beforeAll } from 'vitest';
import { RedisSessionStore, RedisStateStore } from '../../../src/stores/redis/redis.js';
import { testSessionStore } from '../../support/state/session-store-contract.js';
import { testStateStore } from '../../support/state/state-store-contract.js';
import { describeWithRedis, type RedisServer, startRedis } from '../../support/stores/redis-server.js';

describeWithRedis('on a real Redis', () => {
  let server: RedisServer;
  let node: ReturnType<typeof createClient>;
  let io: Redis;
  let stores = 0;

  beforeAll(async () => {
    server = await startRedis();
    node = createClient({ url: server.url });
    await node.connect();
    io = new Redis(server.port);
  });

  afterAll(async () => {
    node.destroy();
    io.disconnect();
    await server.remove();
  });

  const prefix = () => {
    stores += 1;
    return `test${stores}`;
  };
  testStateStore(
    'RedisStateStore',
    () => ({ store: new RedisStateStore({ client: node, prefix: prefix() }), pass: (ms) => sleep(ms) }),
    { unitMs: 150 },
  );
  testSessionStore('RedisSessionStore', () => new RedisSessionStore({ client: io, prefix: prefix(), ttlMs: 500 }), {
    ttlMs: 500,
    pass: (ms) => sleep(ms),
  });
});
