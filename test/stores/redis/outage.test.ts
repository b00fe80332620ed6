import { once } from 'node:events';
import { createClient } from '@redis/client';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import {
  type NodeRedisClient,
  type RedisClient,
  RedisSessionStore,
  RedisStateStore,
} from '../../../src/stores/redis/redis.js';
import { added, entryOf, posted } from '../../../src/testing/contract/session/subject.js';
import { describeWithRedis, type RedisServer, startRedis } from '../../support/stores/redis-server.js';

const policy = { ttlMs: 60_000, sessionTtlMs: 60_000, extensionBytes: 100, sessionBytes: 100 };
const a = { extension: 'a', session: 's' };
const claim = { token: 'x', run: 'x', ttlMs: 60_000 };
const timeoutMs = 500;
/** Without `timeoutMs`, a call may take five seconds. */
const DEFAULT_LIMIT_MS = 5_000;

interface OpenedClient {
  readonly client: RedisClient & { listenerCount(event: string): number };
  /** Waits until the client can be used again. Undefined if the client itself waits. */
  back?(): Promise<unknown>;
  close(): unknown;
}

const clients: Record<string, (server: RedisServer) => Promise<OpenedClient>> = {
  '@redis/client with an offline queue': async ({ url }) => {
    const client = createClient({ url, socket: { reconnectStrategy: 50 } }).on('error', () => {});
    await client.connect();
    return { client, close: () => client.destroy() };
  },
  '@redis/client without an offline queue': async ({ url }) => {
    const socket = { reconnectStrategy: 50 };
    const client = createClient({ url, socket, disableOfflineQueue: true }).on('error', () => {});
    await client.connect();
    const back = () => vi.waitFor(() => expect(client.isReady).toBe(true), 5000);
    return { client, back, close: () => client.destroy() };
  },
  'ioredis with unlimited retries': async ({ port }) => {
    const options = { retryStrategy: () => 50, maxRetriesPerRequest: null };
    const client = new Redis(port, options).on('error', () => {});
    await once(client, 'ready');
    return { client, close: () => client.disconnect() };
  },
  'ioredis with one retry': async ({ port }) => {
    const client = new Redis(port, { retryStrategy: () => 50, maxRetriesPerRequest: 1 }).on('error', () => {});
    await once(client, 'ready');
    return { client, close: () => client.disconnect() };
  },
};

describeWithRedis('an outage of Redis', () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await startRedis('--appendonly', 'yes', '--appendfsync', 'always');
  });

  afterAll(() => server.remove());

  /** Starts one call of each method in parallel. Returns the reason of each rejection. */
  async function failures(state: RedisStateStore, sessions: RedisSessionStore): Promise<unknown[]> {
    const calls = [
      state.get(a, 'k', policy),
      state.set(a, { key: 'lost', value: 'x' }, policy),
      state.clear(a),
      state.clearExtension('a'),
      state.clearSession('s'),
      state.touch('s', policy),
      state.stats('s'),
      sessions.load('s'),
      sessions.claim('s', claim),
      sessions.append('s', { token: 'x', length: 1, entries: [entryOf('2')] }),
      sessions.renew('s', claim),
      sessions.post('s', posted('p')),
      sessions.list({ owner: 'ada' }),
      sessions.update('s', { title: 'x' }),
      sessions.delete('t'),
    ];
    return (await Promise.allSettled(calls)).map((it) => (it.status === 'rejected' ? it.reason : it.value));
  }

  const unavailable = Array.from({ length: 15 }, () =>
    expect.objectContaining({ code: 'ERR_REDIS_UNAVAILABLE', retryable: true, cause: expect.any(Error) }),
  );

  test.each(Object.entries(clients))(
    'fails each call through %s within its time limit, and later calls succeed',
    async (_name, open) => {
      const { client, back, close } = await open(server);
      const options = { client, prefix: `${Math.random()}` };
      const state = new RedisStateStore({ ...options, timeoutMs });
      const sessions = new RedisSessionStore({ ...options, timeoutMs });
      const patient = new RedisStateStore(options);
      await patient.set({ ...a, session: 'kept' }, { key: 'k', value: 'v' }, policy);
      await added(new RedisSessionStore(options), 'kept', { entries: [entryOf('1')] });
      const listeners = client.listenerCount('error');

      await server.kill();
      const begun = performance.now();
      expect(await failures(state, sessions)).toEqual(unavailable);
      expect(performance.now() - begun).toBeLessThan(DEFAULT_LIMIT_MS);

      await server.start();
      await back?.();
      expect(await patient.get({ ...a, session: 'kept' }, 'k', policy)).toBe('v');
      expect(await state.set(a, { key: 'k', value: 'v' }, policy)).toMatchObject({ stored: true });
      expect(await sessions.load('kept')).toMatchObject({ entries: [entryOf('1')] });
      expect(client.listenerCount('error')).toBe(listeners);
      await close();
    },
  );

  test('fails each call within its time limit if Redis does not respond', async () => {
    const { client, close } = await open(server);
    const state = new RedisStateStore({ client, timeoutMs, prefix: 'frozen' });
    const sessions = new RedisSessionStore({ client, timeoutMs, prefix: 'frozen' });
    await state.stats('s');

    server.freeze();
    const begun = performance.now();
    expect(await failures(state, sessions)).toEqual(unavailable);
    expect(performance.now() - begun).toBeLessThan(DEFAULT_LIMIT_MS);
    server.thaw();

    expect(await state.stats('other')).toEqual({ bytes: 0, extensions: {} });
    await close();
  });

  test('fails at once for a client that was never connected', async () => {
    const store = new RedisStateStore({ client: createClient({ url: server.url }) });

    await expect(store.stats('s')).rejects.toMatchObject({
      code: 'ERR_REDIS_UNAVAILABLE',
      message:
        'Redis did not run a command of the store (The client is closed). Check the connection to Redis and the permissions of the Redis user.',
    });
  });

  test('discards a command that @redis/client had not sent before the timeout', async () => {
    const { client, close } = await open(server);
    const sessions = new RedisSessionStore({ client, timeoutMs, prefix: 'late' });
    await sessions.load('s');

    await server.kill();
    await expect(sessions.claim('s', claim)).rejects.toThrow('longer than 500 ms');
    await server.start();

    expect(await new RedisSessionStore({ client, prefix: 'late' }).load('s')).toBe(undefined);
    await close();
  });

  test('does not repeat a call that the client sends twice', async () => {
    const client = await createClient({ url: server.url }).connect();
    const twice: NodeRedisClient = {
      async sendCommand(args, options) {
        await client.sendCommand(args, options);
        return client.sendCommand(args, options);
      },
    };
    const sessions = new RedisSessionStore({ client: twice, prefix: 'twice' });

    expect(await sessions.claim('s', claim)).toMatchObject({ claimed: true });
    expect(await sessions.append('s', { token: 'x', length: 0, entries: [entryOf('1')] })).toMatchObject({ length: 1 });
    expect(await sessions.post('s', posted('p'))).toMatchObject({ added: false });
    const last = await sessions.append('s', { token: 'x', length: 2, entries: [entryOf('2')], release: true });
    expect(last).toMatchObject({ owned: false, stored: true, length: 3, entries: [] });
    expect(await sessions.load('s')).toMatchObject({ entries: [entryOf('1'), posted('p'), entryOf('2')] });
    client.destroy();
  });

  const open = clients['@redis/client with an offline queue'] as (typeof clients)[string];
});
