import { once } from 'node:events';
import { createClient, createCluster } from '@redis/client';
import { Cluster, Redis } from 'ioredis';
import { expect, expectTypeOf, onTestFinished, test } from 'vitest';
import { type RedisClient, RedisSessionStore, type RedisSubscriber } from '../../../src/stores/redis/redis.js';
import { added, entryOf, posted } from '../../../src/testing/contract/session/subject.js';
import {
  describeWithRedis,
  type RedisServer,
  startRedis,
  startRedisCluster,
} from '../../support/stores/redis-server.js';

interface Opened {
  readonly client: RedisClient & RedisSubscriber;
  close(): void;
}

const packages = {
  '@redis/client': async ({ url }: RedisServer): Promise<Opened> => {
    const client = await createClient({ url, keyPrefix: 'mine:' }).connect();
    return { client, close: () => client.destroy() };
  },
  ioredis: async ({ port }: RedisServer): Promise<Opened> => {
    const client = new Redis(port, { keyPrefix: 'mine:' });
    return { client, close: () => client.disconnect() };
  },
};

const clusters = {
  'a cluster of @redis/client': async ({ url }: RedisServer): Promise<Opened> => {
    const client = createCluster({ rootNodes: [{ url }] });
    await client.connect();
    return { client, close: () => client.destroy() };
  },
  'a cluster of ioredis': async ({ port }: RedisServer): Promise<Opened> => {
    const client = new Cluster([{ host: '127.0.0.1', port }]);
    await once(client, 'ready');
    return { client, close: () => client.disconnect() };
  },
};

const pairs = [
  ...[packages, clusters].flatMap((it) =>
    Object.entries(it).map(([name, open]) => [name, name, open, open, it === clusters] as const),
  ),
  ['@redis/client', 'ioredis', packages['@redis/client'], packages.ioredis, false],
  ['ioredis', '@redis/client', packages.ioredis, packages['@redis/client'], false],
] as const;

describeWithRedis('the watch of a session in Redis', () => {
  test.each(pairs)('tells of posts that %s adds, through %s', async (...[, , openPoster, openWatcher, isCluster]) => {
    const server = await (isCluster ? startRedisCluster() : startRedis());
    onTestFinished(() => server.remove());
    const admin = await createClient({ url: server.url }).connect();
    const opened = await Promise.all([openPoster, openPoster, openWatcher, openWatcher].map((open) => open(server)));
    const [one, two, three, four] = opened.map(({ client }) => client) as [Both, Both, Both, Both];
    const poster = new RedisSessionStore({ client: one, subscriber: two });
    const watcher = new RedisSessionStore({ client: three, subscriber: four });
    const told: string[] = [];
    const watch = (id: string, name: string) => watcher.watch?.(id, () => told.push(name)) ?? expect.fail('no watch');
    const channels = (count: number) =>
      expect.poll(() => admin.pubSubChannels('keelson:*'), { timeout: 10_000 }).toHaveLength(count);
    /** Redis delivers messages in order. After the last post, those before it were told. */
    const afterPosts = async (...posts: readonly (readonly [session: string, id: string])[]) => {
      told.length = 0;
      for (const [session, id] of posts) await poster.post(session, posted(id));
      await poster.post('last', posted(crypto.randomUUID()));
      await expect.poll(() => told, { timeout: 10_000 }).toContain('last');
      return told;
    };
    for (const id of ['a', 'b', '{c}:\n', 'last']) await added(poster, id, { entries: [entryOf('1')] });

    const [first, second, odd] = [watch('a', 'first'), watch('a', 'second'), watch('{c}:\n', 'odd')];
    watch('last', 'last');
    await channels(3);
    expect(await afterPosts(['a', 'p'], ['a', 'p'], ['a', '1'], ['b', 'p'], ['{c}:\n', 'p'])).toEqual([
      ...['first', 'second', 'odd', 'last'],
    ]);

    first();
    first();
    odd();
    await channels(2);
    expect(await afterPosts(['a', 'q'], ['{c}:\n', 'q'])).toEqual(['second', 'last']);

    second();
    watch('a', 'third');
    watch('b', 'fourth');
    await channels(3);
    expect(await afterPosts(['a', 'r'], ['b', 'r'])).toEqual(['third', 'fourth', 'last']);

    for (const { close } of opened) close();
    admin.destroy();
  });

  test('is missing without a subscriber, and then posts are not announced', async () => {
    const server = await startRedis();
    onTestFinished(() => server.remove());
    const client = await createClient({ url: server.url }).connect();
    const subscriber = await createClient({ url: server.url }).connect();
    const silent = new RedisSessionStore({ client });
    const store = new RedisSessionStore({ client, subscriber });
    const told: string[] = [];
    for (const id of ['a', 'b']) {
      await added(store, id, { entries: [entryOf('1')] });
      store.watch?.(id, () => told.push(id));
    }
    await expect.poll(() => client.pubSubChannels()).toHaveLength(2);

    expect(silent.watch).toBe(undefined);
    await silent.post('a', posted('p'));
    await store.post('b', posted('p'));

    await expect.poll(() => told).toEqual(['b']);
    client.destroy();
    subscriber.destroy();
  });

  test('does nothing while its subscriber is closed, and refuses an id that is not a string', async () => {
    const client = createClient();
    const store = new RedisSessionStore({ client, subscriber: client });

    const end = store.watch?.('a', () => expect.fail('no post was added'));
    await new Promise(setImmediate);
    end?.();
    await new Promise(setImmediate);

    expect(() => store.watch?.(1 as never, () => {})).toThrow(expect.objectContaining({ option: 'id' }));
  });

  test('needs a client that can subscribe', () => {
    expectTypeOf<{ subscribe(channel: string): Promise<void> }>().not.toExtend<RedisSubscriber>();
  });
});

type Both = Opened['client'];
