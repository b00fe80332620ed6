import { createClient } from '@redis/client';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { RedisSessionStore, RedisStateStore } from '../../../src/stores/redis/redis.js';
import { describeWithRedis, type RedisServer, startRedis } from '../../support/stores/redis-server.js';

const bound = { ttlMs: 60_000, sessionTtlMs: 60_000, extensionBytes: 100, sessionBytes: 100 };
const own = { ...bound, ttlMs: 30_000 };
const a = { extension: 'a', session: 's' };
const said = (content: string) => ({ role: 'user', content }) as const;
const list = 'keelson:{s}:session:messages';

describeWithRedis('data in Redis that the stores did not write:', () => {
  let server: RedisServer;
  let client: ReturnType<typeof createClient>;
  let state: RedisStateStore;
  let sessions: RedisSessionStore;

  beforeAll(async () => {
    server = await startRedis();
    client = createClient({ url: server.url });
    await client.connect();
    state = new RedisStateStore({ client });
    sessions = new RedisSessionStore({ client });
  });

  afterEach(() => client.flushAll());

  afterAll(async () => {
    client.destroy();
    await server.remove();
  });

  test('a key of another type causes an error that is not retryable', async () => {
    await sessions.save('s', { keep: 0, append: [said('1')] }, 0);
    await client.set(list, 'text');

    await expect(sessions.load('s')).rejects.toMatchObject({
      code: 'ERR_REDIS_UNAVAILABLE',
      retryable: false,
      message: expect.stringContaining('Use another `prefix`, or delete the key.'),
    });
  });

  test.each(['{"role":', 'null', '7', '"text"'])('the stored message %s causes an error with its key', async (json) => {
    await sessions.save('s', { keep: 0, append: [said('1'), said('2')] }, 0);
    await client.lSet(list, 1, json);

    await expect(sessions.load('s')).rejects.toMatchObject({
      code: 'ERR_REDIS_DATA',
      key: list,
      message: `Redis key "${list}": message 1 must be a message as JSON, got ${json}. Repair it, or delete the session.`,
      cause: expect.any(Error),
    });
  });

  test.each([
    ['the list of messages is removed', () => client.del(list)],
    ['a message is removed', () => client.lPop(list)],
    ['a message is added', () => client.rPush(list, '{}')],
  ])('load and save fail after %s', async (_name, damage) => {
    await sessions.save('s', { keep: 0, append: [said('1'), said('2')] }, 0);
    await damage();
    const missing = { code: 'ERR_REDIS_DATA', key: list, message: expect.stringContaining('noeviction') };

    await expect(sessions.load('s')).rejects.toMatchObject(missing);
    await expect(sessions.save('s', { keep: 1, append: [said('3')] }, 1)).rejects.toMatchObject(missing);
    await sessions.delete('s');
    expect(await sessions.save('s', { keep: 0, append: [said('new')] }, 0)).toBe(1);
    expect(await sessions.load('s')).toMatchObject({ messages: [said('new')], revision: 1 });
  });

  test.each([-1, 2])(
    'a save with `keep: %d` is refused for a session of one message, and changes nothing',
    async (keep) => {
      await sessions.save('s', { keep: 0, append: [said('1')] }, 0);

      await expect(sessions.save('s', { keep, append: [] }, 1)).rejects.toMatchObject({ code: 'ERR_REDIS_DATA' });
      expect(await sessions.load('s')).toMatchObject({ messages: [said('1')], revision: 1 });
    },
  );

  test('a message that has no JSON form is refused before any command is sent', async () => {
    const message = { role: 'assistant', content: [{ type: 'tool-call', id: 'c', name: 't', input: 1n }] } as const;

    await expect(sessions.save('s', { keep: 0, append: [message] }, 0)).rejects.toMatchObject({
      code: 'ERR_REDIS_DATA',
      cause: expect.any(TypeError),
    });
    expect(await client.dbSize()).toBe(0);
  });

  test('a key of another type causes an error and stays unchanged', async () => {
    await client.set('keelson:{s}:session', 'mine');

    const refused = { code: 'ERR_REDIS_UNAVAILABLE', message: expect.stringContaining('WRONGTYPE') };
    await expect(sessions.load('s')).rejects.toMatchObject(refused);
    await expect(sessions.save('s', { keep: 0, append: [] }, 0)).rejects.toMatchObject(refused);
    expect(await client.get('keelson:{s}:session')).toBe('mine');
  });

  test('a read of an evicted value returns undefined and updates the size of the session', async () => {
    await state.set(a, { key: 'own', value: 'xx' }, own);
    await state.set(a, { key: 'bound', value: 'xxx' }, bound);
    await client.del('keelson:{s}:state:value:a:own');

    expect(await state.get(a, 'own', own)).toBe(undefined);
    expect(await state.stats('s')).toEqual({ bytes: 8, extensions: { a: 8 } });
    await client.del('keelson:{s}:state:session-long');
    expect(await state.get(a, 'bound', own)).toBe(undefined);
    expect(await state.stats('s')).toEqual({ bytes: 0, extensions: {} });
    expect(await client.keys('keelson:{s}:*')).toEqual([]);
  });

  test.each(['', ':entries', ':used', ':due'])(
    'a session whose key "state%s" was evicted starts empty',
    async (end) => {
      await state.set(a, { key: 'own', value: 'old' }, own);
      await state.set(a, { key: 'bound', value: 'old' }, bound);
      await client.del(`keelson:{s}:state${end}`);

      expect(await state.stats('s')).toEqual({ bytes: 0, extensions: {} });
      expect([await state.get(a, 'own', own), await state.get(a, 'bound', own)]).toEqual([undefined, undefined]);
      expect(await state.set(a, { key: 'own', value: 'new' }, own)).toMatchObject({ bytesBefore: 0, bytesAfter: 6 });
      expect(await state.get(a, 'own', own)).toBe('new');
    },
  );

  test('clearExtension ignores index entries of removed sessions', async () => {
    await state.set(a, { key: 'k', value: 'x' }, bound);
    await state.clearSession('s');
    expect(await client.keys('*')).toEqual(['keelson:{a}:extension']);

    expect(await state.clearExtension('a')).toBe(0);
    expect(await client.keys('*')).toEqual([]);
  });

  test('a full Redis refuses writes, but reads still work and restart lifetimes', async () => {
    await state.set(a, { key: 'k', value: 'old' }, bound);
    await state.set(a, { key: 'own', value: 'x' }, { ...bound, ttlMs: 1_000 });
    await sessions.save('s', { keep: 0, append: [said('1')] }, 0);
    await client.configSet({ 'maxmemory-policy': 'noeviction', maxmemory: '1' });

    await expect(state.set(a, { key: 'k', value: 'new' }, bound)).rejects.toThrow(/OOM/);
    await expect(sessions.save('s', { keep: 1, append: [said('2')] }, 1)).rejects.toThrow(/OOM/);
    const longer = { ...bound, ttlMs: 2 * bound.ttlMs, sessionTtlMs: 2 * bound.sessionTtlMs };
    await state.touch(a.session, longer);
    expect(await state.get(a, 'k', longer)).toBe('old');
    expect(await state.get(a, 'own', longer)).toBe('x');
    expect(await sessions.load('s')).toMatchObject({ messages: [said('1')], revision: 1 });
    const left = await client.pTTL('keelson:{s}:state');
    expect(left).toBeGreaterThan(bound.sessionTtlMs);
    await client.configSet({ maxmemory: '0' });
  });

  test('the stores need only the permission for scripts on keys with their prefix', async () => {
    const commands = [
      'time',
      'exists',
      'unlink',
      'pexpire',
      'pexpireat',
      'persist',
      'get',
      'set',
      'hget',
      'hmget',
      'hset',
    ];
    const more = ['hdel', 'hlen', 'hkeys', 'hexists', 'hincrby', 'zadd', 'zrem', 'zscore', 'zrange', 'zrangebyscore'];
    const last = [
      'zrangebylex',
      'zremrangebyscore',
      'lrange',
      'llen',
      'ltrim',
      'rpush',
      'evalsha',
      'eval',
      'lindex',
      'hgetall',
      'zcount',
      'zrevrangebyscore',
    ];
    const may = ['hello', ...commands, ...more, ...last].map((name) => `+${name}`);
    await client.aclSetUser('agent', ['on', '>secret', '~keelson:*', ...may]);
    const narrow = await createClient({ url: server.url, username: 'agent', password: 'secret' }).connect();
    const narrowState = new RedisStateStore({ client: narrow });
    const narrowSessions = new RedisSessionStore({ client: narrow });

    for (const policy of [own, bound, { ...own, extensionBytes: 2 }]) {
      await narrowState.set(a, { key: 'k', value: 'x' }, policy);
      await narrowState.set(a, { key: 'l', value: 'x' }, policy);
      await narrowState.get(a, 'l', policy);
      await narrowState.touch('s', { ...policy, sessionTtlMs: 10_000 });
    }
    expect(await narrowState.stats('s')).toEqual({ bytes: 2, extensions: { a: 2 } });
    expect([await narrowState.clear(a), await narrowState.clearExtension('a')]).toEqual([1, 0]);
    expect(await narrowState.clearSession('s')).toBe(0);
    await narrowSessions.save('s', { keep: 0, append: [said('1')] }, 0);
    await new RedisSessionStore({ client: narrow, ttlMs: Number.POSITIVE_INFINITY }).save(
      's',
      { keep: 0, append: [said('1'), said('2')] },
      1,
    );
    expect(await narrowSessions.save('s', { keep: 1, append: [] }, 2)).toBe(3);
    const stored = await narrowSessions.load('s');
    expect(stored).toMatchObject({ messages: [said('1')], revision: 3 });
    await narrowSessions.save('s', { keep: 1, append: [said('4')] }, 3);
    expect(await narrowSessions.load('s', stored)).toMatchObject({ keep: 1, messages: [said('4')] });
    expect(await narrowSessions.claim('s', { token: 'x', revision: 4, ttlMs: 1_000 })).toBe(1);
    expect(await narrowSessions.renew('s', 'x', 1_000)).toBe(true);
    await narrowSessions.release('s', 'x');
    await narrowSessions.fork('s', { id: 't', details: { owner: 'ada' } });
    await narrowSessions.delete('t');
    expect(await narrowSessions.list({ owner: 'ada' })).toEqual({ sessions: [], next: undefined });
    await narrowSessions.delete('s');
    await expect(new RedisStateStore({ client: narrow, prefix: 'other' }).stats('s')).rejects.toThrow(/NOPERM/);
    narrow.destroy();
  });
});
