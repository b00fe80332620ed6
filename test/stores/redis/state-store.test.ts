import { createClient } from '@redis/client';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MemoryStateStore } from '../../../src/state/memory-state-store.js';
import type { StatePolicy, StateScope, StateStore } from '../../../src/state/state-store.js';
import { RedisStateStore } from '../../../src/stores/redis/redis.js';
import { describeWithRedis, type RedisServer, startRedis } from '../../support/stores/redis-server.js';

const hour = 3_600_000;
const scope = fc.record({ extension: fc.constantFrom('a', 'b', ''), session: fc.constantFrom('s', 't') });
const key = fc.constantFrom('k', 'l', 'm:', '🎉');
const policy: fc.Arbitrary<StatePolicy> = fc.record({
  ttlMs: fc.constantFrom(hour, 2 * hour, 3 * hour),
  sessionTtlMs: fc.constantFrom(hour, 2 * hour),
  extensionBytes: fc.constantFrom(6, 9, 100),
  sessionBytes: fc.constantFrom(8, 14, 100),
});
type Step = (store: StateStore) => unknown;
const value = fc.string({ unit: fc.constantFrom('x', 'é', '🎉'), maxLength: 4 });
const session = scope.map((it: StateScope) => it.session);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(scope, key, value, policy).map(
      ([at, k, v, p]): Step =>
        (it) =>
          it.set(at, { key: k, value: v }, p),
    ),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(scope, key, policy).map(
      ([at, k, p]): Step =>
        (it) =>
          it.get(at, k, p),
    ),
  },
  fc.tuple(session, policy).map(
    ([id, p]): Step =>
      (it) =>
        it.touch(id, p),
  ),
  fc.tuple(scope, fc.option(key, { nil: undefined })).map(
    ([at, k]): Step =>
      (it) =>
        it.clear(at, k),
  ),
  scope.map(
    ({ extension }): Step =>
      (it) =>
        it.clearExtension(extension),
  ),
  session.map(
    (id): Step =>
      (it) =>
        it.clearSession(id),
  ),
  session.map(
    (id): Step =>
      (it) =>
        it.stats(id),
  ),
);

describeWithRedis('the state store on Redis', () => {
  let server: RedisServer;
  let client: ReturnType<typeof createClient>;

  beforeAll(async () => {
    server = await startRedis();
    client = createClient({ url: server.url });
    await client.connect();
  });

  afterAll(async () => {
    client.destroy();
    await server.remove();
  });

  test('has the results of the memory store for any sequence of calls, and leaves no key behind', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
        const memory = new MemoryStateStore();
        const redis = new RedisStateStore({ client });
        for (const each of steps) expect(await each(redis)).toEqual(await each(memory));

        const keys = await client.keys('*');
        expect(await Promise.all(keys.map((it) => client.pTTL(it)))).not.toContain(-1);
        for (const id of ['s', 't']) await redis.clearSession(id);
        for (const id of ['a', 'b', '']) await redis.clearExtension(id);
        expect(await client.dbSize()).toBe(0);
      }),
      { numRuns: 150 },
    );
  }, 60_000);
});
