import { createClient } from '@redis/client';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createDeferred } from '../../../src/internal/promise.js';
import { type NodeRedisClient, RedisStateStore } from '../../../src/stores/redis/redis.js';
import { movableRedis } from '../../support/stores/redis-clock.js';
import { describeWithRedis, type RedisServer, startRedis } from '../../support/stores/redis-server.js';

const policy = { ttlMs: 60_000, sessionTtlMs: 60_000, extensionBytes: 100, sessionBytes: 100 };
const inSession = (session: string) => ({ extension: 'x', session });

describeWithRedis('clearExtension', () => {
  let server: RedisServer;
  let node: ReturnType<typeof createClient>;
  let io: Redis;

  beforeAll(async () => {
    server = await startRedis();
    node = createClient({ url: server.url });
    await node.connect();
    io = new Redis(server.port);
  });

  afterEach(() => node.flushAll());

  afterAll(async () => {
    node.destroy();
    io.disconnect();
    await server.remove();
  });

  test('clears a session whose writer failed after any of its steps', async () => {
    const failure = new TypeError('gone');
    let left = 0;
    const breaking: NodeRedisClient = {
      sendCommand(args) {
        left -= 1;
        return left < 0 ? Promise.reject(failure) : node.sendCommand(args);
      },
    };
    const broken = new RedisStateStore({ client: breaking });
    const outcomes: unknown[] = [];
    for (let steps = 0; steps < 8; steps += 1) {
      await node.flushAll();
      left = steps;
      const set = broken.set(inSession('s'), { key: 'k', value: 'v' }, policy);
      outcomes.push(
        await set.then(
          () => 'set',
          (error) => error.cause,
        ),
      );
      left = 100;
      const { bytes } = await broken.stats('s');

      expect(await broken.clearExtension('x')).toBe(bytes / 2);
      expect(await broken.stats('s')).toEqual({ bytes: 0, extensions: {} });
    }
    expect(new Set(outcomes)).toEqual(new Set([failure, 'set']));
  });

  type Call = (store: RedisStateStore) => Promise<unknown>;
  const write: Call = (store) => store.set(inSession('s'), { key: 'k', value: 'v' }, policy);
  const touch: Call = (store) => store.touch('s', { ...policy, sessionTtlMs: 90_000 });
  const clear: Call = (store) => store.clearExtension('x');
  const races: readonly (readonly [string, Call, Call])[] = [
    ['a write', write, clear],
    ['a touch that extends the session', touch, clear],
    ['clearExtension', clear, write],
  ];

  test.each(races)('clears a session if another call runs between any two steps of %s', async (_name, slow, quick) => {
    const other = new RedisStateStore({ client: node });
    for (const seeded of [true, false]) {
      for (let steps = 1; steps < 9; steps += 1) {
        await node.flushAll();
        if (seeded) await write(other);
        let done = 0;
        const interrupted: NodeRedisClient = {
          async sendCommand(args) {
            const reply = await node.sendCommand(args);
            done += 1;
            if (done === steps) await quick(other);
            return reply;
          },
        };
        await slow(new RedisStateStore({ client: interrupted }));
        const { bytes } = await other.stats('s');

        expect(await other.clearExtension('x')).toBe(bytes / 2);
      }
    }
  });

  test('clears a session that another extension has kept alive', async () => {
    const { send, pass } = movableRedis((args) => node.sendCommand(args));
    const store = new RedisStateStore({ client: { sendCommand: send } });
    await store.set(inSession('s'), { key: 'k', value: 'v' }, { ...policy, ttlMs: 20_000, sessionTtlMs: 20_000 });
    for (let count = 0; count < 8; count += 1) {
      await store.set(
        { extension: 'y', session: 's' },
        { key: 'k', value: 'v' },
        { ...policy, ttlMs: 20_000, sessionTtlMs: 20_000 },
      );
      await pass(6_000);
    }

    expect(await store.clearExtension('x')).toBe(1);
    expect(await store.stats('s')).toEqual({ bytes: 2, extensions: { y: 2 } });
  });

  test('clears sessions while other calls write, and can clear their values afterwards', async () => {
    const stores = [new RedisStateStore({ client: node }), new RedisStateStore({ client: io })] as const;
    const sessions = Array.from({ length: 5 }, (_, at) => `s${at}`);
    let cleared = 0;
    for (let round = 0; round < 60; round += 1) {
      const writes = sessions.map((id, at) =>
        stores[at % 2 === 0 ? 0 : 1].set(inSession(id), { key: `${round}`, value: 'v' }, policy),
      );
      const clears = stores.map((store) => store.clearExtension('x'));
      await Promise.all(writes);
      for (const count of await Promise.all(clears)) cleared += count;
      const before = await Promise.all(sessions.map(async (id) => (await stores[0].stats(id)).bytes));
      const rest = await stores[round % 2 === 0 ? 0 : 1].clearExtension('x');
      cleared += rest;

      // Every value of a round has the same key, and the size of a value includes its key.
      expect(rest).toBe(before.reduce((sum, bytes) => sum + bytes, 0) / (`${round}`.length + 1));
      for (const id of sessions) expect(await stores[0].stats(id)).toEqual({ bytes: 0, extensions: {} });
    }
    expect(cleared).toBe(300);
    expect(await node.keys('*')).toEqual([]);
  });

  test('clears 500 sessions', async () => {
    const store = new RedisStateStore({ client: node });
    const ids = Array.from({ length: 500 }, (_, at) => `${at}`);
    await Promise.all(ids.map((id) => store.set(inSession(id), { key: 'k', value: 'v' }, policy)));

    expect(await store.clearExtension('x')).toBe(500);
    expect(await node.keys('*')).toEqual([]);
  });

  test('clears sessions in parallel', async () => {
    const ids = ['a', 'b', 'c'];
    const store = new RedisStateStore({ client: node });
    for (const id of ids) await store.set(inSession(id), { key: 'k', value: 'v' }, policy);
    const asked = createDeferred<void>();
    const sessions = new Set<string | undefined>();
    const patient: NodeRedisClient = {
      async sendCommand(args) {
        const session = ids.find((id) => args[3]?.includes(`{${id}}`));
        if (session !== undefined) sessions.add(session);
        if (sessions.size === ids.length) asked.resolve();
        if (session !== undefined) await asked.promise;
        return node.sendCommand(args);
      },
    };

    expect(await new RedisStateStore({ client: patient }).clearExtension('x')).toBe(3);
  });

  test('stops clearing sessions after a failure', async () => {
    const ids = Array.from({ length: 50 }, (_, at) => `${at}`);
    const store = new RedisStateStore({ client: node });
    for (const id of ids) await store.set(inSession(id), { key: 'k', value: 'v' }, policy);
    let asked = 0;
    const broken: NodeRedisClient = {
      sendCommand(args) {
        if (!args[3]?.includes(':state')) return node.sendCommand(args);
        asked += 1;
        return Promise.reject(new TypeError('gone'));
      },
    };

    await expect(new RedisStateStore({ client: broken }).clearExtension('x')).rejects.toMatchObject({
      code: 'ERR_REDIS_UNAVAILABLE',
    });
    expect(asked).toBeLessThan(20);
    expect(await store.clearExtension('x')).toBe(50);
  });
});
