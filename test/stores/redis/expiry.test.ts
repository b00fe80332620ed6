import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@redis/client';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { StatePolicy } from '../../../src/state/state-store.js';
import { RedisSessionStore, RedisStateStore } from '../../../src/stores/redis/redis.js';
import { added, entryOf } from '../../../src/testing/contract/session/subject.js';
import { bytesInRedis } from '../../support/stores/bytes-in-redis.js';
import { movableRedis } from '../../support/stores/redis-clock.js';
import { describeWithRedis, type RedisServer, startRedis } from '../../support/stores/redis-server.js';

const minute = 60_000;
const hour = 60 * minute;
const roomy = { extensionBytes: 1_000_000, sessionBytes: 1_000_000 };
const policyOf = (ttlMs: number, sessionTtlMs: number): StatePolicy => ({ ...roomy, ttlMs, sessionTtlMs });
const a = { extension: 'a', session: 's' };
const b = { extension: 'b', session: 's' };

describeWithRedis('expiry in Redis:', () => {
  let server: RedisServer;
  let client: ReturnType<typeof createClient>;
  let store: RedisStateStore;

  beforeAll(async () => {
    server = await startRedis();
    client = createClient({ url: server.url });
    await client.connect();
    store = new RedisStateStore({ client });
  });

  afterEach(() => client.flushAll());

  afterAll(async () => {
    client.destroy();
    await server.remove();
  });

  /** Returns the key that contains a value. */
  async function keyOf(value: string): Promise<string> {
    for (const key of await client.keys('*')) {
      const type = await client.type(key);
      if (type === 'string' && (await client.get(key)) === value) return key;
      if (type === 'hash' && (await client.hVals(key)).includes(value)) return key;
    }
    return '';
  }

  const expiryOf = async (value: string) => client.pExpireTime(await keyOf(value));

  /** Waits until all keys have expired. Redis hides expired keys at once and removes them gradually. */
  const nothingLeft = () => expect.poll(() => client.dbSize()).toBe(0);

  /** Expects that the key of the value expires exactly `ms` milliseconds after the call. */
  async function expectLife(value: string, ms: number, call: () => unknown): Promise<void> {
    const now = async () => {
      const [seconds, micros] = (await client.time()) as unknown as [string, string];
      return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
    };
    const before = await now();
    await call();
    const after = await now();
    const end = await expiryOf(value);
    expect(end).toBeGreaterThanOrEqual(before + ms);
    expect(end).toBeLessThanOrEqual(after + ms);
  }

  const lives = [
    [hour, 10 * minute, 10 * minute],
    [24 * hour, 24 * hour, 24 * hour],
    [hour, 24 * hour, hour],
    [2 * hour + 1, 2 * hour + 2, 2 * hour + 1],
  ] as const;

  test.each(lives)(
    'S1-6.2.3: with `ttlMs: %d` and `sessionTtlMs: %d`, a value expires %d ms after each use',
    async (...times) => {
      const [ttlMs, sessionTtlMs, expected] = times;
      const policy = policyOf(ttlMs, sessionTtlMs);

      await expectLife('first', expected, () => store.set(a, { key: 'k', value: 'first' }, policy));
      await sleep(15);
      await expectLife('first', expected, () => store.get(a, 'k', policy));
      await sleep(15);
      await expectLife('second', expected, () => store.set(a, { key: 'k', value: 'second' }, policy));
    },
  );

  test('S1-6.2.3: activity of the session extends only values that expire with it', async () => {
    const bound = policyOf(hour, hour);
    await store.set(a, { key: 'bound', value: 'bound' }, bound);
    await store.set(b, { key: 'brief', value: 'brief' }, policyOf(minute, hour));
    const brief = await expiryOf('brief');

    for (const use of [
      () => store.touch('s', bound),
      () => store.get(b, 'brief', policyOf(minute, hour)),
      () => store.set(b, { key: 'new', value: 'new' }, policyOf(minute, hour)),
    ]) {
      await sleep(15);
      await expectLife('bound', hour, use);
    }
    expect(await expiryOf('brief')).toBeGreaterThan(brief);
    await sleep(15);
    const before = await expiryOf('brief');
    await store.touch('s', bound);
    expect(await expiryOf('brief')).toBe(before);
  });

  test('S1-6.2.3: a shorter session shortens the life of all its values, and a longer one restores it', async () => {
    await store.set(a, { key: 'own', value: 'own' }, policyOf(2 * hour, 3 * hour));
    const own = await expiryOf('own');

    await expectLife('own', minute, () => store.touch('s', policyOf(hour, minute)));
    await store.touch('s', policyOf(hour, 4 * hour));

    expect(await expiryOf('own')).toBe(own);
  });

  test('a value is stored once, also after a policy changes how it expires', async () => {
    for (const [ttlMs, size] of [
      [hour, 1],
      [minute, 1],
      [hour, 1],
    ] as const) {
      await store.set(a, { key: 'k', value: 'v' }, policyOf(ttlMs, hour));
      await store.get(a, 'k', policyOf(hour + minute - ttlMs, hour));
      const held = await Promise.all(
        (await client.keys('*')).map(async (key) => ((await client.dump(key)) as unknown as string).length > 0 && key),
      );
      expect(held.filter((key) => key && /:(value:|session-long)/.test(key))).toHaveLength(size);
    }
    expect(await store.stats('s')).toEqual({ bytes: 2, extensions: { a: 2 } });
  });

  test('S1-11.0: a long session never exceeds its limits, and leaves no keys when it has expired', async () => {
    const policy: StatePolicy = { ttlMs: 400, sessionTtlMs: 1500, extensionBytes: 2000, sessionBytes: 3000 };
    const sizes: number[] = [];

    for (let at = 0; at < 3_000; at += 100) {
      const writes = Array.from({ length: 100 }, (_, i) => {
        const entry = { key: `${(at * 7 + i * 13) % 501}`, value: 'é'.repeat((at + i) % 97) };
        return store.set({ extension: `x${i % 3}`, session: 's' }, entry, { ...policy, ttlMs: i % 2 ? 400 : 1500 });
      });
      await Promise.all(writes);
      const before = await bytesInRedis(client);
      const { bytes } = await store.stats('s');
      const after = await bytesInRedis(client);
      sizes.push(before);
      // Between the readings, values may have expired.
      expect(bytes).toBeLessThanOrEqual(before);
      expect(bytes).toBeGreaterThanOrEqual(after);
      // Lets the brief values of this round expire.
      if (at % 1000 === 0) await expect.poll(() => bytesInRedis(client)).toBeLessThan(after);
    }

    expect(Math.max(...sizes)).toBeLessThanOrEqual(3000);
    expect(Math.max(...sizes)).toBeGreaterThan(2700);
    await nothingLeft();
  });

  test('S1-11.0, S1-11.1.3: expired values leave no keys, even if their session could last longer', async () => {
    await store.set(a, { key: 'k', value: 'v' }, policyOf(50, 24 * hour));
    await store.set(b, { key: 'k', value: 'v' }, policyOf(4_000, 24 * hour));
    await store.touch('s', policyOf(50, 24 * hour));

    await expect.poll(() => store.stats('s')).toEqual({ bytes: 2, extensions: { b: 2 } });
    await nothingLeft();
  });

  test('all keys of a stored session expire at the same time, or never with `ttlMs: Infinity`', async () => {
    const save = (ttlMs: number, text: string) =>
      added(new RedisSessionStore({ client, ttlMs }), 's', { entries: [entryOf(text)] });
    const ends = async () => Promise.all((await client.keys('*')).map((key) => client.pExpireTime(key)));

    await save(hour, '1');
    const [end = 0, ...others] = await ends();
    expect(end).toBeGreaterThan(Date.now());
    expect(others).toEqual([end, end]);
    await save(Number.POSITIVE_INFINITY, '2');
    expect(await ends()).toEqual([-1, -1, -1]);
    await new RedisSessionStore({ client, ttlMs: 50 }).load('s');
    await nothingLeft();
  });

  test('a session that is only loaded stays in the list of its owner', async () => {
    const { send, pass } = movableRedis((args) => client.sendCommand(args));
    const sessions = new RedisSessionStore({ client: { sendCommand: send }, ttlMs: hour });
    await added(sessions, 's', { entries: [entryOf('1')], details: { owner: 'ada' } });

    for (let loads = 0; loads < 5; loads += 1) {
      await pass(0.9 * hour);
      await sessions.load('s');
    }

    expect(await sessions.list({ owner: 'ada' })).toMatchObject({ sessions: [{ id: 's', length: 1 }] });
    await pass(1.1 * hour);
    expect(await sessions.list({ owner: 'ada' })).toEqual({ sessions: [], next: undefined });
  });
});
