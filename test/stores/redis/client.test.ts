import { once } from 'node:events';
import { createClient, createClientPool, createCluster, createSentinel, RESP_TYPES } from '@redis/client';
import { Cluster, Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import type { StatePolicy } from '../../../src/state/state-store.js';
import { type RedisClient, RedisSessionStore, RedisStateStore } from '../../../src/stores/redis/redis.js';
import { added, entryOf, posted } from '../../../src/testing/contract/session/subject.js';
import {
  describeWithRedis,
  type RedisServer,
  startRedis,
  startRedisCluster,
  startRedisSentinel,
} from '../../support/stores/redis-server.js';

interface OpenedClient {
  readonly client: RedisClient & { listenerCount(event: string): number; eventNames(): unknown[] };
  close(): unknown;
  /** The key prefix of the client. */
  readonly prefix?: string;
}

const policy: StatePolicy = { ttlMs: 60_000, sessionTtlMs: 90_000, extensionBytes: 10, sessionBytes: 16 };
const a = { extension: 'a:{b}', session: 's{1}' };
const claim = { token: 'x', run: 'ü🎉', ttlMs: 60_000 };
const other = { ...claim, token: 'y' };
const holder = { run: 'ü🎉', until: expect.any(Number) };
const summary = { id: 's', length: 3, owner: 'ü🎉', title: 'ü🎉', data: { n: 1 } };

const single: Record<string, (server: RedisServer) => Promise<OpenedClient>> = {
  '@redis/client': async ({ url }) => {
    const client = await createClient({ url }).connect();
    return { client, close: () => client.destroy() };
  },
  '@redis/client, with RESP2': async ({ url }) => {
    const client = await createClient({ url, RESP: 2 }).connect();
    return { client, close: () => client.destroy() };
  },
  '@redis/client, which returns bytes': async ({ url }) => {
    const client = await createClient({ url }).connect();
    return { client: client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer }), close: () => client.destroy() };
  },
  'a pool of @redis/client': async ({ url }) => {
    const client = createClientPool({ url });
    await client.connect();
    return { client, close: () => client.destroy() };
  },
  '@redis/client, with its own key prefix': async ({ url }) => {
    const client = await createClient({ url, keyPrefix: 'mine:' }).connect();
    return { client, close: () => client.destroy(), prefix: 'mine:' };
  },
  'a pool of @redis/client, with a key prefix of bytes': async ({ url }) => {
    const client = createClientPool({ url, keyPrefix: Buffer.from('mine:') });
    await client.connect();
    return { client, close: () => client.destroy(), prefix: 'mine:' };
  },
  ioredis: async ({ port }) => {
    const client = new Redis(port);
    return { client, close: () => client.disconnect() };
  },
  'ioredis, with its own key prefix': async ({ port }) => {
    const client = new Redis(port, { keyPrefix: 'mine:', stringNumbers: true });
    return { client, close: () => client.disconnect(), prefix: 'mine:' };
  },
};

const clusters: typeof single = {
  'a cluster of @redis/client': async ({ url }) => {
    const client = createCluster({ rootNodes: [{ url }] });
    await client.connect();
    return { client, close: () => client.destroy() };
  },
  'a cluster of @redis/client, with its own key prefix': async ({ url }) => {
    const client = createCluster({ rootNodes: [{ url }], keyPrefix: 'my{app}:' });
    await client.connect();
    return { client, close: () => client.destroy(), prefix: 'my{app}:' };
  },
  'a cluster of ioredis': async ({ port }) => {
    const client = new Cluster([{ host: '127.0.0.1', port }]);
    await once(client, 'ready');
    return { client, close: () => client.disconnect() };
  },
};

const sentinels: typeof single = {
  'a sentinel client of @redis/client': async ({ sentinel = 0 }) => {
    const client = createSentinel({ name: 'keelson', sentinelRootNodes: [{ host: '127.0.0.1', port: sentinel }] });
    await client.connect();
    return { client, close: () => client.destroy() };
  },
  'a sentinel client of @redis/client, with its own key prefix': async ({ sentinel = 0 }) => {
    const sentinelRootNodes = [{ host: '127.0.0.1', port: sentinel }];
    const client = createSentinel({ name: 'keelson', sentinelRootNodes, keyPrefix: 'mine:' });
    await client.connect();
    return { client, close: () => client.destroy(), prefix: 'mine:' };
  },
  'ioredis with sentinels': async ({ sentinel = 0 }) => {
    const client = new Redis({ name: 'keelson', sentinels: [{ host: '127.0.0.1', port: sentinel }] });
    return { client, close: () => client.disconnect() };
  },
};

/** Calls every method of both stores, twice, each time after Redis has dropped its cached scripts. */
async function useStores(client: RedisClient, flush: () => Promise<unknown>): Promise<unknown[]> {
  const state = new RedisStateStore({ client });
  const sessions = new RedisSessionStore({ client });
  const b = { extension: 'b', session: a.session };
  const seen: unknown[] = [];
  for (const round of [1, 2]) {
    await flush();
    seen.push(await state.set(a, { key: 'x', value: 'ü🎉' }, policy));
    seen.push(await state.set(a, { key: 'y', value: '' }, policy));
    seen.push(await state.set(a, { key: 'z', value: 'xxxxx' }, policy));
    seen.push(await state.get(a, 'y', policy), await state.get(a, 'z', policy), await state.get(a, 'x', policy));
    await state.set(b, { key: 'k', value: 'x' }, { ...policy, ttlMs: 90_000 });
    await state.touch(a.session, policy);
    seen.push(await state.get(b, 'k', policy), await state.stats(a.session));
    seen.push(await state.clear(a, 'y'), await state.clearExtension(a.extension), await state.clearSession(a.session));
    await added(sessions, 's', {
      entries: [entryOf(`${round}`), entryOf('ü🎉')],
      details: { owner: 'ü🎉', data: { n: 1 } },
    });
    seen.push(await sessions.claim('s', claim), await sessions.claim('s', other));
    seen.push(await sessions.renew('s', claim), await sessions.post('s', posted('p')));
    seen.push(
      await sessions.append('s', { token: 'x', length: 3, entries: [], release: true }),
      await sessions.update('s', { title: 'ü🎉' }),
    );
    seen.push(await sessions.list({ owner: 'ü🎉' }), await sessions.load('s'), await sessions.load('never'));
    await sessions.delete('s');
  }
  return seen;
}

const round = (name: string) => [
  { stored: true, evicted: [], bytesBefore: 0, bytesAfter: 7 },
  { stored: true, evicted: [], bytesBefore: 7, bytesAfter: 8 },
  { stored: true, evicted: [{ key: 'x', bytes: 7 }], bytesBefore: 8, bytesAfter: 7 },
  ...['', 'xxxxx', undefined],
  ...['x', { bytes: 9, extensions: { [a.extension]: 7, b: 2 } }],
  ...[1, 1, 1],
  expect.objectContaining({ claimed: true, entries: [entryOf(name), entryOf('ü🎉')], holder }),
  ...[{ claimed: false, holder }, true, { added: true, holder }],
  { owned: true, stored: true, released: true, length: 3, entries: [] },
  ...[expect.objectContaining(summary), { sessions: [expect.objectContaining(summary)], next: undefined }],
  ...[expect.objectContaining({ length: 3, entries: [entryOf(name), entryOf('ü🎉'), posted('p')] }), undefined],
];

function testClients(clients: typeof single, start: () => Promise<RedisServer>): void {
  let server: RedisServer;
  let admin: ReturnType<typeof createClient>;

  beforeAll(async () => {
    server = await start();
    admin = createClient({ url: server.url });
    await admin.connect();
  });

  afterAll(async () => {
    admin.destroy();
    await server.remove();
  });

  test.each(Object.entries(clients))(
    '%s works without configuration, and no listener is left on it',
    async (_name, open) => {
      const { client, close, prefix = '' } = await open(server);
      const listeners = () => client.eventNames().map((name) => [name, client.listenerCount(name as string)]);
      const before = listeners();

      expect(await useStores(client, () => admin.sendCommand(['SCRIPT', 'FLUSH']))).toEqual([
        ...round('1'),
        ...round('2'),
      ]);

      expect(listeners()).toEqual(before);
      await added(new RedisSessionStore({ client }), 'last', { entries: [entryOf('1')] });
      const names = (await admin.keys('*')).map((key) => key.slice(0, prefix.length + 'keelson:'.length));
      expect(new Set(names)).toEqual(new Set([`${prefix}keelson:`]));
      await admin.flushAll();
      await close();
    },
  );
}

describeWithRedis('the stores on a single Redis:', () => testClients(single, () => startRedis()));
describeWithRedis('the stores on a cluster:', () => testClients(clusters, startRedisCluster));
describeWithRedis('the stores behind a sentinel:', () => testClients(sentinels, startRedisSentinel));

describe('the client of a Redis store', () => {
  // The clients above are RedisClients by their types, too.
  test('has a type that an object without commands does not fit', () => {
    expectTypeOf<{ get(key: string): string }>().not.toExtend<RedisClient>();
  });

  test.each([
    ['client', { client: undefined }],
    ['client', { client: {} }],
    ['options', null],
    ['prefix', { prefix: 1 }],
    ['timeoutMs', { timeoutMs: 0 }],
    ['timeoutMs', { timeoutMs: Number.POSITIVE_INFINITY }],
    ['ttlMs', { ttlMs: Number.NaN }],
    ['ttlMs', { ttlMs: 1.5 }],
    ['subscriber.unsubscribe', { subscriber: { subscribe: async () => {} } }],
    ['url', { url: 'redis://localhost' }],
  ])('checks each option in the constructor: %s', (option, invalid) => {
    const options = invalid && { client: { sendCommand: async () => null }, ...invalid };

    expect(() => new RedisSessionStore(options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_OPTION_INVALID', option }),
    );
  });

  test('sends no command if an id is not a string', async () => {
    const client = { sendCommand: () => expect.fail('no command must be sent') };
    const id = undefined as unknown as string;

    for (const attempt of [new RedisSessionStore({ client }).load(id), new RedisStateStore({ client }).stats(id)]) {
      await expect(attempt).rejects.toMatchObject({ code: 'ERR_OPTION_INVALID', option: 'id' });
    }
  });

  test('refuses `ttlMs` for a state store, since each call has its own policy', () => {
    const options = { client: { sendCommand: async () => null }, ttlMs: 1 };

    expect(() => new RedisStateStore(options)).toThrow(expect.objectContaining({ option: 'ttlMs' }));
  });
});
