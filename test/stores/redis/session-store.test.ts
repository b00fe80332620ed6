import { createClient } from '@redis/client';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RedisSessionStore } from '../../../src/stores/redis/redis.js';
import { describeWithRedis, type RedisServer, startRedis } from '../../support/stores/redis-server.js';

const said = (content: string) => ({ role: 'user', content }) as const;

describeWithRedis('a long session in Redis', () => {
  let server: RedisServer;
  let client: ReturnType<typeof createClient>;
  let store: RedisSessionStore;
  const long = Array.from({ length: 2000 }, (_, index) => said(`${index} `.padEnd(6000, 'é')));

  beforeAll(async () => {
    server = await startRedis();
    client = createClient({ url: server.url });
    await client.connect();
    store = new RedisSessionStore({ client });
    await store.save('s', { keep: 0, append: long }, 0);
  });

  afterAll(async () => {
    client.destroy();
    await server.remove();
  });

  /** Returns the number of bytes that Redis has received from its clients. */
  const bytesSent = async () => Number(/total_net_input_bytes:(\d+)/.exec(await client.info('stats'))?.[1]);

  test('loads a session of more than 10 MB unchanged', async () => {
    const stored = await store.load('s');

    expect(JSON.stringify(stored?.messages).length * 2).toBeGreaterThan(10_000_000);
    expect(stored).toMatchObject({ messages: long, revision: 1 });
  });

  test('sends only new messages with a save', async () => {
    // The first save sends the script itself.
    await store.save('other', { keep: 0, append: [] }, 0);
    const before = await bytesSent();

    expect(await store.save('s', { keep: 2000, append: [said('more')] }, 1)).toBe(2);
    expect(await store.save('s', { keep: 1500, append: [said('less')] }, 2)).toBe(3);

    expect((await bytesSent()) - before).toBeLessThan(1500);
    expect(await store.load('s')).toMatchObject({ messages: [...long.slice(0, 1500), said('less')], revision: 3 });
  });

  test('accepts 20,000 messages in one save through either client', async () => {
    const many = Array.from({ length: 20_000 }, (_, index) => said(`${index}`));
    const io = new Redis(server.port);
    const other = new RedisSessionStore({ client: io });

    expect(await store.save('many', { keep: 0, append: many }, 0)).toBe(1);
    expect(await other.save('many', { keep: 20_000, append: many }, 1)).toBe(2);
    expect(await other.load('many')).toMatchObject({ messages: [...many, ...many], revision: 2 });
    io.disconnect();
  });
});
