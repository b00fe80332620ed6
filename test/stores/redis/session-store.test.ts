import { createClient } from '@redis/client';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RedisSessionStore } from '../../../src/stores/redis/redis.js';
import { added, claimed, entryOf, posted } from '../../../src/testing/contract/session/subject.js';
import { describeWithRedis, type RedisServer, startRedis } from '../../support/stores/redis-server.js';

describeWithRedis('a session in Redis', () => {
  let server: RedisServer;
  let client: ReturnType<typeof createClient>;
  let store: RedisSessionStore;
  const long = Array.from({ length: 2000 }, (_, index) => entryOf(`${index} `.padEnd(3000, 'é')));

  beforeAll(async () => {
    server = await startRedis();
    client = createClient({ url: server.url });
    await client.connect();
    store = new RedisSessionStore({ client });
    await added(store, 's', { entries: long });
  });

  afterAll(async () => {
    client.destroy();
    await server.remove();
  });

  /** Returns the number of bytes that Redis has received from its clients, and sent to them. */
  const traffic = async () => {
    const stats = await client.info('stats');
    const [received, sent] = ['input', 'output'].map((way) =>
      Number(new RegExp(`total_net_${way}_bytes:(\\d+)`).exec(stats)?.[1]),
    );
    return { received: received as number, sent: sent as number };
  };

  test('is loaded unchanged if it has more than 10 MB', async () => {
    const stored = await store.load('s');

    expect(JSON.stringify(stored?.entries).length * 2).toBeGreaterThan(10_000_000);
    expect(stored?.entries).toEqual(long);
  });

  test('is continued without its known entries on the wire', async () => {
    const { uid = '' } = (await store.load('s', { limit: 0 })) ?? {};
    // The first call of each kind sends the script itself.
    await added(store, 'other', { entries: [entryOf('1')] });
    await store.post('other', posted('p'));
    const before = await traffic();

    const known = { uid, length: 2000 };
    expect(await store.claim('s', { token: 'x', run: 'x', ttlMs: 60_000, known })).toMatchObject({ entries: [] });
    await store.post('s', posted('p'));
    const entries = [entryOf('more')];
    const last = await store.append('s', { token: 'x', length: 2000, entries, context: 2000, release: true });
    expect(last).toMatchObject({ length: 2002, entries: [posted('p')], released: false });
    const release = await store.append('s', { token: 'x', length: 2002, entries: [], release: true });
    expect(release).toMatchObject({ released: true });
    expect(await claimed(store, 's')).toMatchObject({ offset: 2000, entries: [posted('p'), entryOf('more')] });

    const after = await traffic();
    expect(after.received - before.received).toBeLessThan(4000);
    expect(after.sent - before.sent).toBeLessThan(12_000);
  });

  test('costs Redis as many commands for a call as a short session', async () => {
    /** Counts the commands that the scripts of one turn run. */
    const commandsOf = async (id: string, length: number) => {
      await client.configResetStat();
      await store.claim(id, { token: 'y', run: 'y', ttlMs: 60_000, known: undefined });
      await store.post(id, posted('q'));
      await store.append(id, { token: 'y', length, entries: [entryOf('last')], context: length });
      await store.append(id, { token: 'y', length: length + 2, entries: [], release: true });
      const stats = await client.info('commandstats');
      const counts = [...stats.matchAll(/cmdstat_(\w+):calls=(\d+)/g)].map(([, name, calls]) => `${name} ${calls}`);
      return counts.filter((count) => !/^(config|info|eval)/.test(count)).sort();
    };
    await added(store, 'short', { entries: [entryOf('1')] });
    await added(store, 'large', { entries: Array.from({ length: 20_000 }, (_, index) => entryOf(`${index}`)) });

    const short = await commandsOf('short', 1);

    expect(short).toContain('rpush 2');
    expect(await commandsOf('large', 20_000)).toEqual(short);
  });

  test('is released by an append that is sent again, also if it names an entry twice', async () => {
    await claimed(store, 'twice');
    const append = { token: 'x', length: 0, entries: [entryOf('1'), entryOf('2'), entryOf('1')] };
    await store.append('twice', append);

    const again = await store.append('twice', { ...append, release: true });

    expect(again).toEqual({ owned: true, stored: true, released: true, length: 2, entries: [] });
  });

  test('may grow by 20,000 entries in one append through either client', async () => {
    const many = Array.from({ length: 40_000 }, (_, index) => entryOf(`${index}`));
    const io = new Redis(server.port);
    const other = new RedisSessionStore({ client: io });

    await added(store, 'many', { entries: many.slice(0, 20_000) });
    await added(other, 'many', { entries: many.slice(20_000) });

    expect((await other.load('many'))?.entries).toEqual(many);
    io.disconnect();
  });
});
