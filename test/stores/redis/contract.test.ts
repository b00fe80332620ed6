import { createClient } from '@redis/client';
import { Redis } from 'ioredis';
import { RedisSessionStore, RedisStateStore } from 'keelson/redis';
import { afterAll, beforeAll } from 'vitest';
import { testSessionStore } from '../../support/state/session-store-contract.js';
import { testStateStore } from '../../support/state/state-store-contract.js';
import { type MovableRedis, movableRedis } from '../../support/stores/redis-clock.js';
import { describeWithRedis, type RedisServer, startRedis } from '../../support/stores/redis-server.js';

describeWithRedis('on a real Redis', () => {
  let server: RedisServer;
  let node: ReturnType<typeof createClient>;
  let io: Redis;
  let throughNode: MovableRedis;
  let throughIo: MovableRedis;
  let stores = 0;

  beforeAll(async () => {
    server = await startRedis();
    node = createClient({ url: server.url });
    await node.connect();
    io = new Redis(server.port);
    throughNode = movableRedis((args) => node.sendCommand(args));
    throughIo = movableRedis(([command = '', ...args]) => io.call(command, args));
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
  testStateStore('RedisStateStore', () => {
    const client = { sendCommand: throughNode.send };
    return { store: new RedisStateStore({ client, prefix: prefix(), timeoutMs: 60_000 }), pass: throughNode.pass };
  });
  const client = { call: (command: string, args: string[]) => throughIo.send([command, ...args]) };
  testSessionStore('RedisSessionStore', () => new RedisSessionStore({ client, prefix: prefix(), ttlMs: 60_000 }), {
    ttlMs: 60_000,
    pass: (ms) => throughIo.pass(ms),
  });
});
