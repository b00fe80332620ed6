import { createClient } from '@redis/client';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { RedisRunLog, RedisSessionStore, RedisStateStore } from '../../../src/stores/redis/redis.js';
import { added, entryOf, posted } from '../../../src/testing/contract/session/subject.js';
import { describeWithRedis, type RedisServer, startRedis } from '../../support/stores/redis-server.js';

const bound = { ttlMs: 60_000, sessionTtlMs: 60_000, extensionBytes: 100, sessionBytes: 100 };
const own = { ...bound, ttlMs: 30_000 };
const a = { extension: 'a', session: 's' };
const claim = { token: 'x', run: 'x', ttlMs: 60_000 };
const head = 'keelson:{s}:session';
const list = `${head}:entries`;

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
    await added(sessions, 's', { entries: [entryOf('1')] });
    await client.set(list, 'text');

    await expect(sessions.load('s')).rejects.toMatchObject({
      code: 'ERR_REDIS_UNAVAILABLE',
      retryable: false,
      message: expect.stringContaining('Use another `prefix`, or delete the key.'),
    });
  });

  test.each(['{"id":', 'null', '7', '"text"', '{"id":1}'])(
    'the stored entry %s causes an error with its key',
    async (json) => {
      await added(sessions, 's', { entries: [entryOf('1'), entryOf('2')] });
      await client.lSet(list, 1, json);

      await expect(sessions.load('s')).rejects.toMatchObject({
        code: 'ERR_REDIS_DATA',
        key: list,
        message: `The data of Redis key "${list}" cannot be used: entry 1 is invalid: ${json}. Repair it, or delete the session.`,
      });
    },
  );

  test.each([
    ['the head is removed', () => client.del(head)],
    ['the list of entries is removed', () => client.del(list)],
    ['the ids are removed', () => client.del(`${head}:ids`)],
    ['an entry is removed', () => client.lPop(list)],
    ['an entry is added', () => client.rPush(list, '{}')],
  ])('load, claim, append and post fail after %s, until the session is deleted', async (_name, damage) => {
    await added(sessions, 's', { entries: [entryOf('1'), entryOf('2')] });
    await damage();

    for (const call of [
      sessions.load('s'),
      sessions.claim('s', claim),
      sessions.append('s', { token: 'x', length: 2, entries: [entryOf('3')] }),
      sessions.post('s', posted('p')),
    ]) {
      const missing = { code: 'ERR_REDIS_DATA', key: head, message: expect.stringContaining('noeviction') };
      await expect(call).rejects.toMatchObject(missing);
    }
    await sessions.delete('s');
    await added(sessions, 's', { entries: [entryOf('new')] });
    expect(await sessions.load('s')).toMatchObject({ entries: [entryOf('new')] });
  });

  test('a damaged session is listed', async () => {
    await added(sessions, 's', { entries: [entryOf('1')], details: { owner: 'ada' } });
    await client.del(list);

    expect(await sessions.list({ owner: 'ada' })).toMatchObject({ sessions: [{ id: 's', length: 1 }] });
  });

  test('a session that an earlier version wrote causes an error that says what to do', async () => {
    // The commands of the earlier version.
    await client.hSet(head, {
      uid: 'u',
      created: '1',
      revision: '1',
      length: '1',
      save: 'u',
      updated: '1',
      indexed: '1',
    });
    await client.zAdd('keelson:{ada}:owner', { score: 1, value: 's' });

    for (const call of [
      () => sessions.load('s'),
      () => sessions.claim('s', claim),
      () => sessions.append('s', { token: 'x', length: 0, entries: [entryOf('1')] }),
      () => sessions.renew('s', claim),
      () => sessions.post('s', posted('p')),
      () => sessions.update('s', { title: 'x' }),
      () => sessions.list({ owner: 'ada' }),
    ]) {
      await expect(call()).rejects.toMatchObject({
        code: 'ERR_REDIS_DATA',
        key: head,
        message: `The data of Redis key "${head}" cannot be used: an earlier version of Keelson wrote this session, and this version cannot read it. Use another \`prefix\`, or delete the session.`,
      });
    }
    expect(await client.hGet(head, 'revision')).toBe('1');
    await sessions.delete('s');
    expect(await client.keys('keelson:{s}:*')).toEqual([]);
    expect(await sessions.list({ owner: 'ada' })).toEqual({ sessions: [], next: undefined });
  });

  test('a field of the head that is not JSON causes an error with its key', async () => {
    await added(sessions, 's', { entries: [entryOf('1')] });
    await client.hSet(head, 'uid', 'text');

    const refused = { code: 'ERR_REDIS_DATA', key: head, message: expect.stringContaining('a field is invalid: text') };
    await expect(sessions.load('s')).rejects.toMatchObject(refused);
  });

  test('a message that has no JSON form is refused before any command is sent', async () => {
    const message = { role: 'assistant', content: [{ type: 'tool-call', id: 'c', name: 't', input: 1n }] } as const;

    const entries = [{ id: '1', at: 1, body: { type: 'message', message } } as const];
    await expect(sessions.append('s', { token: 'x', length: 0, entries })).rejects.toMatchObject({
      code: 'ERR_REDIS_DATA',
      cause: expect.any(TypeError),
    });
    expect(await client.dbSize()).toBe(0);
  });

  test('a key of another type causes an error and stays unchanged', async () => {
    await client.set('keelson:{s}:session', 'mine');

    const refused = { code: 'ERR_REDIS_UNAVAILABLE', message: expect.stringContaining('WRONGTYPE') };
    await expect(sessions.load('s')).rejects.toMatchObject(refused);
    await expect(sessions.claim('s', claim)).rejects.toMatchObject(refused);
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
    await sessions.claim('s', claim);
    await sessions.append('s', { token: 'x', length: 0, entries: [entryOf('1')] });
    await client.configSet({ 'maxmemory-policy': 'noeviction', maxmemory: '1' });

    await expect(state.set(a, { key: 'k', value: 'new' }, bound)).rejects.toThrow(/OOM/);
    await expect(sessions.append('s', { token: 'x', length: 1, entries: [entryOf('2')] })).rejects.toThrow(/OOM/);
    await expect(sessions.post('s', posted('p'))).rejects.toThrow(/OOM/);
    const longer = { ...bound, ttlMs: 2 * bound.ttlMs, sessionTtlMs: 2 * bound.sessionTtlMs };
    await state.touch(a.session, longer);
    expect(await state.get(a, 'k', longer)).toBe('old');
    expect(await state.get(a, 'own', longer)).toBe('x');
    expect(await sessions.load('s')).toMatchObject({ entries: [entryOf('1')] });
    expect(await sessions.append('s', { token: 'x', length: 1, entries: [], release: true })).toMatchObject({
      released: true,
    });
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
      'rpush',
      'hsetnx',
      'evalsha',
      'eval',
      'publish',
      'zcount',
      'zrevrangebyscore',
      'xadd',
      'xlen',
      'xrange',
      'xtrim',
    ];
    const may = ['hello', ...commands, ...more, ...last].map((name) => `+${name}`);
    await client.aclSetUser('agent', ['on', '>secret', '~keelson:*', '&keelson:*', ...may]);
    const narrow = await createClient({ url: server.url, username: 'agent', password: 'secret' }).connect();
    const narrowState = new RedisStateStore({ client: narrow });
    const subscriber = { subscribe: async () => {}, unsubscribe: async () => {} };
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
    const whole = new RedisSessionStore({ client: narrow, subscriber, ttlMs: 60_000 });
    for (const store of [narrowSessions, whole]) {
      expect(await store.claim('s', { ...claim, details: { owner: 'ada' } })).toMatchObject({ claimed: true });
      expect(await store.append('s', { token: 'x', length: 0, entries: [entryOf('1')] })).toMatchObject({
        stored: true,
      });
      expect(await store.post('s', posted('p'))).toMatchObject({ added: true });
      expect(await store.renew('s', claim)).toBe(true);
      expect(await store.load('s')).toMatchObject({ entries: [entryOf('1'), posted('p')] });
      expect(await store.append('s', { token: 'x', length: 2, entries: [], release: true })).toMatchObject({
        released: true,
      });
      expect(await store.update('s', { title: 'x' })).toMatchObject({ title: 'x' });
      expect(await store.list({ owner: 'ada' })).toMatchObject({ sessions: [{ id: 's' }] });
      await store.delete('s');
      expect(await store.list({ owner: 'ada' })).toEqual({ sessions: [], next: undefined });
    }
    const log = new RedisRunLog({ client: narrow, subscriber, maxBytes: 10 });
    await log.append('r', 0, ['12345678']);
    expect(await log.append('r', 1, ['12345678'])).toMatchObject({ appended: true });
    await log.touch('r');
    expect(await log.close('r', 'done')).toBe('done');
    expect(await log.read('r', 1)).toMatchObject({ outcome: 'done' });
    await log.delete('r');
    await expect(new RedisStateStore({ client: narrow, prefix: 'other' }).stats('s')).rejects.toThrow(/NOPERM/);
    narrow.destroy();
  });
});
