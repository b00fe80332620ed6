import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/internal/clock.js';
import { MemoryStateStore } from '../../src/state/memory-state-store.js';
import { resolveStatePolicy } from '../../src/state/state-policy.js';
import { fakeClock } from '../support/agent/fake-clock.js';
import { anySteps, outcomesOf } from '../support/state/state-model.js';
import { testStateStore } from '../support/state/state-store-contract.js';

const MINUTE_MS = 60_000;
const scope = { extension: 'a', session: 's' };

function open() {
  const clock = fakeClock();
  return { store: new MemoryStateStore({ clock }), pass: (ms: number) => clock.advance(ms), clock };
}

/** Returns the number of sessions and values in the memory of the store. */
function heldBy(store: MemoryStateStore): number {
  const { sessions } = store as unknown as { sessions: Map<string, { list(): Iterable<unknown> }> };
  return [...sessions.values()].reduce((sum, session) => sum + 1 + [...session.list()].length, 0);
}

// covers: S1-6.1.2, S1-6.2.2
testStateStore('MemoryStateStore', open);

test('any sequence of calls has the results of the reference store', async () => {
  await fc.assert(
    fc.asyncProperty(anySteps, async (steps) => {
      const { store, pass } = open();
      const [found, expected] = await outcomesOf(steps, { open: () => store, pass });
      expect(found).toEqual(expected);
    }),
    { numRuns: 500 },
  );
});

describe('expiry in the memory store', () => {
  test('S1-11.1.1: a value expires after an hour, or after the `ttlMs` of its policy', () => {
    const { store, clock } = open();
    const brief = resolveStatePolicy({ ttlMs: MINUTE_MS });
    store.set(scope, { key: 'default', value: 'x' }, resolveStatePolicy());
    store.set(scope, { key: 'brief', value: 'x' }, brief);

    clock.advance(MINUTE_MS - 1);
    expect(store.stats('s').bytes).toBe(14);
    clock.advance(1);
    expect(store.stats('s').bytes).toBe(8);
    clock.advance(59 * MINUTE_MS - 1);
    expect(store.stats('s').bytes).toBe(8);
    clock.advance(1);
    expect(store.stats('s').bytes).toBe(0);
  });

  test('a value expires after its own last use, even if the clock was set back', () => {
    let time = 1_000_000;
    const store = new MemoryStateStore({ clock: { ...systemClock, now: () => time } });
    const policy = resolveStatePolicy({ ttlMs: 1_000 });
    store.set(scope, { key: 'before', value: 'x' }, policy);
    time -= 50_000;
    store.set(scope, { key: 'first', value: 'x' }, policy);
    time += 1;
    store.set(scope, { key: 'second', value: 'x' }, policy);
    time += 999;

    expect(store.get(scope, 'first', policy)).toBe(undefined);
    expect(store.get(scope, 'second', policy)).toBe('x');
    expect(store.stats('s').bytes).toBe(14);
  });

  test('S1-11.1.2: a read after 59 minutes keeps the value for another hour', () => {
    const { store, clock } = open();
    const policy = resolveStatePolicy();
    for (const key of ['read', 'left']) store.set(scope, { key, value: key }, policy);

    clock.advance(59 * MINUTE_MS);
    expect(store.get(scope, 'read', policy)).toBe('read');
    clock.advance(2 * MINUTE_MS);

    expect(store.get(scope, 'left', policy)).toBe(undefined);
    expect(store.get(scope, 'read', policy)).toBe('read');
  });

  test('S1-11.1.3, S1-6.4.2: expired values are freed without a timer, also in unused sessions', () => {
    const { store, clock } = open();
    const policy = resolveStatePolicy();
    for (let index = 0; index < 1000; index += 1) {
      store.set({ extension: 'a', session: `${index}` }, { key: 'k', value: 'x' }, policy);
    }
    expect(heldBy(store)).toBe(2000);

    clock.advance(60 * MINUTE_MS);
    for (let count = 0; count < 1000; count += 1) store.set(scope, { key: 'k', value: 'x' }, policy);

    expect(heldBy(store)).toBe(2);
    expect(clock.pending()).toBe(0);
    expect(clock.delays).toEqual([]);
  });

  test('S1-6.4.1: activity of a session keeps only the values that expire with it', () => {
    const { store, clock } = open();
    const policy = resolveStatePolicy({ ttlMs: 10 * MINUTE_MS, sessionTtlMs: 10 * MINUTE_MS });
    const brief = resolveStatePolicy({ ttlMs: 9 * MINUTE_MS, sessionTtlMs: 10 * MINUTE_MS });
    store.set(scope, { key: 'session', value: 'x' }, policy);
    for (const key of ['untouched', 'touched']) store.set(scope, { key, value: 'x' }, brief);

    for (let count = 0; count < 20; count += 1) {
      clock.advance(5 * MINUTE_MS);
      store.touch('s', policy);
      store.get(scope, 'touched', brief);
    }

    expect(['session', 'untouched', 'touched'].map((key) => store.get(scope, key, policy))).toEqual([
      'x',
      undefined,
      'x',
    ]);
    clock.advance(10 * MINUTE_MS);
    expect(store.stats('s')).toEqual({ bytes: 0, extensions: {} });
  });
});

describe('limits of the memory store', () => {
  test('S1-11.2.1: an extension with more than 10 MB evicts its least recently used values', () => {
    const { store } = open();
    const policy = resolveStatePolicy();
    const value = 'x'.repeat(999_999);
    for (let at = 0; at < 10; at += 1) store.set(scope, { key: `${at}`, value }, policy);
    store.get(scope, '0', policy);

    const { evicted } = store.set(scope, { key: 'n', value }, policy);

    expect(evicted).toEqual([{ key: '1', bytes: 1_000_000 }]);
    expect(store.stats('s').bytes).toBe(10_000_000);
    expect(store.get(scope, '0', policy)).toBe(value);
  });

  test('S1-11.3.1: the stats of a session are the sum over its extensions', () => {
    const { store } = open();
    const policy = resolveStatePolicy();
    store.set(scope, { key: 'k', value: 'é' }, policy);
    store.set({ ...scope, extension: '__proto__' }, { key: 'k', value: 'xyz' }, policy);

    const { bytes, extensions } = store.stats('s');

    expect(bytes).toBe(7);
    expect(Object.entries(extensions)).toEqual([
      ['a', 3],
      ['__proto__', 4],
    ]);
  });

  test('S1-11.3.3: a session never exceeds `sessionBytes`, and only the writing extension loses values', () => {
    const { store } = open();
    const policy = resolveStatePolicy({ sessionBytes: 1_048_576 });
    const other = { extension: 'b', session: 's' };
    store.set(other, { key: 'k', value: 'x'.repeat(499_999) }, policy);
    store.set(scope, { key: 'old', value: 'old' }, policy);

    const sizes = Array.from({ length: 100 }, (_, at) => {
      store.set(scope, { key: `${at}`, value: 'x'.repeat(1000 * at) }, policy);
      return store.stats('s').bytes;
    });
    const refused = store.set(scope, { key: '99', value: 'x'.repeat(548_575) }, policy);

    expect(Math.max(...sizes)).toBeGreaterThan(900_000);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1_048_576);
    expect(refused).toMatchObject({ stored: false, evicted: [] });
    expect(store.get(scope, '99', policy)).toBe('x'.repeat(99_000));
    expect(store.stats('s').extensions.b).toBe(500_000);
    expect(store.set(scope, { key: '99', value: 'x'.repeat(548_574) }, policy)).toMatchObject({
      bytesAfter: 1_048_576,
    });
  });

  test('S1-6.3.1: clear removes all values of an extension in one session, and no others', () => {
    const { store } = open();
    const policy = resolveStatePolicy();
    const scopes = [scope, { ...scope, session: 't' }, { ...scope, extension: 'b' }];
    for (const it of scopes) for (const key of ['1', '2']) store.set(it, { key, value: 'x' }, policy);

    expect(store.clear(scope)).toBe(2);

    expect(scopes.map((it) => ['1', '2'].map((key) => store.get(it, key, policy)))).toEqual([
      [undefined, undefined],
      ['x', 'x'],
      ['x', 'x'],
    ]);
  });

  test.each([
    ['ttlMs', 0],
    ['sessionTtlMs', Number.POSITIVE_INFINITY],
    ['extensionBytes', -1],
    ['sessionBytes', 1.5],
    ['ttlMs', Number.NaN],
    ['ttlMs', '5'],
  ])('a policy whose %s is %s is refused', (option, value) => {
    expect(() => resolveStatePolicy({ [option]: value })).toThrow(
      expect.objectContaining({ code: 'ERR_OPTION_INVALID', option }),
    );
  });
});
