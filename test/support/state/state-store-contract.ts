import { afterEach, describe, expect, test } from 'vitest';
import type { Awaitable } from '../../../src/internal/promise.js';
import { MAX_KEY_LENGTH, MAX_SCOPE_KEYS } from '../../../src/state/state-key.js';
import type { StatePolicy, StateScope, StateStore } from '../../../src/state/state-store.js';
import { testStatePolicies } from './state-policy-contract.js';

/** An empty store, with a function that lets time pass. */
export interface OpenedStateStore {
  readonly store: StateStore;
  /** Moves the clock, or waits if the store uses another clock. */
  pass(ms: number): Awaitable<void>;
  close?(): Awaitable<void>;
}

export interface StateStoreSuite {
  /** The suite's unit of time in milliseconds. Use a short unit if `pass` really waits. */
  readonly unitMs?: number;
}

const a: StateScope = { extension: 'a', session: 's' };
const b: StateScope = { extension: 'b', session: 's' };
const elsewhere: StateScope = { extension: 'a', session: 't' };
/** Pairs of ids that collide if a store joins, escapes, matches or uses them as paths or properties incorrectly. */
export const lookAlikes: readonly StateScope[] = [
  ['a', 'b:c'],
  ['a:b', 'c'],
  ['a-b', 'c'],
  ['a', 'b-c'],
  ['a', 'b'],
  ['ab', ''],
  ['', 'ab'],
  ['*', 's'],
  ['a*', 's?'],
  ['[ab]', '{s}'],
  ['../a', 's'],
  ['a', '../s'],
  ['a/b', 's'],
  ['a', 'b/s'],
  ['a\\b', 's'],
  ['a%3Ab', 'c'],
  ['A', 'S'],
  ['A', 's'],
  ['con', 'nul'],
  ['.', '..'],
  ['__proto__', 'constructor'],
  ['a\0b', 's\n'],
  ['é', 's'],
  ['e\u0301', 's'],
  ['\ud800', 's'],
  ['\ud801', 's'],
  ['x'.repeat(300), 's'],
  [`${'x'.repeat(299)}y`, 's'],
  ['a', 'x'.repeat(5000)],
].map(([extension = '', session = '']) => ({ extension, session }));

/** Defines the tests that every state store must pass. */
export function testStateStore(
  name: string,
  open: () => Awaitable<OpenedStateStore>,
  { unitMs = 60_000 }: StateStoreSuite = {},
): void {
  const roomy: StatePolicy = {
    ttlMs: 600 * unitMs,
    sessionTtlMs: 600 * unitMs,
    extensionBytes: 1_000_000,
    sessionBytes: 1_000_000,
  };
  const tight: StatePolicy = { ...roomy, extensionBytes: 14, sessionBytes: 24 };
  /** Values live for 4 units, sessions for 10. */
  const short: StatePolicy = { ...roomy, ttlMs: 4 * unitMs, sessionTtlMs: 10 * unitMs };
  /** Values expire with their session, after 4 units. */
  const bound: StatePolicy = { ...roomy, ttlMs: 4 * unitMs, sessionTtlMs: 4 * unitMs };

  describe(`${name} fulfils the contract of a state store:`, () => {
    const opened: OpenedStateStore[] = [];
    const start = async () => {
      const it = await open();
      opened.push(it);
      return { store: it.store, pass: (units: number) => it.pass(units * unitMs) };
    };
    afterEach(async () => {
      for (const it of opened.splice(0)) await it.close?.();
    });

    testStatePolicies(async () => (await start()).store, roomy);

    test('get returns undefined before a set, and the value afterwards', async () => {
      const { store } = await start();

      expect(await store.get(a, 'k', roomy)).toBe(undefined);
      expect(await store.set(a, { key: 'k', value: 'ü🎉' }, roomy)).toEqual({
        stored: true,
        evicted: [],
        bytesBefore: 0,
        bytesAfter: 7,
      });
      expect(await store.get(a, 'k', roomy)).toBe('ü🎉');
      expect(await store.set(a, { key: 'k', value: '' }, roomy)).toEqual({
        stored: true,
        evicted: [],
        bytesBefore: 7,
        bytesAfter: 1,
      });
      expect(await store.get(a, 'k', roomy)).toBe('');
    });

    test('similar scopes are kept separate, and clear affects only one of them', async () => {
      const { store } = await start();
      for (const [at, scope] of lookAlikes.entries()) await store.set(scope, { key: 'k', value: `${at}` }, roomy);

      const values = () => Promise.all(lookAlikes.map((scope) => store.get(scope, 'k', roomy)));
      const all = lookAlikes.map((_scope, at) => `${at}`);
      expect(await values()).toEqual(all);
      for (const [at, scope] of lookAlikes.entries()) {
        expect(await store.clear(scope)).toBe(1);
        expect(await values()).toEqual(all.map((value, other) => (other > at ? value : undefined)));
      }
    });

    test('keys may be any strings, and are kept separate', async () => {
      const { store } = await start();
      const keys = [
        '__proto__',
        'constructor',
        'a:b',
        'a',
        'A',
        '*',
        '../x',
        'a\nb',
        '\0',
        ' ',
        '\ud800',
        '\ud801',
        '🎉',
      ];
      for (const [at, key] of keys.entries()) await store.set(a, { key, value: `${at}` }, roomy);

      expect(await Promise.all(keys.map((key) => store.get(a, key, roomy)))).toEqual(keys.map((_key, at) => `${at}`));
      expect(await store.clear(a, '*')).toBe(1);
      expect(await store.clear(a)).toBe(keys.length - 1);
    });

    test('any string is returned unchanged', async () => {
      const { store } = await start();
      const values = ['a\nb\r\nc', '\0', '"\\', '\u2028\u2029', '{"x":1}', 'é🎉'.repeat(20_000)];
      for (const [at, value] of values.entries()) await store.set(a, { key: `${at}`, value }, roomy);

      for (const [at, value] of values.entries()) expect(await store.get(a, `${at}`, roomy)).toBe(value);
    });

    test('a key that is empty or too long is refused with a typed error', async () => {
      const { store } = await start();
      const attempts = (key: string) => [
        async () => store.get(a, key, roomy),
        async () => store.set(a, { key, value: 'x' }, roomy),
        async () => store.clear(a, key),
      ];
      await store.set(a, { key: 'x'.repeat(MAX_KEY_LENGTH), value: 'longest' }, roomy);

      for (const attempt of [...attempts(''), ...attempts('x'.repeat(MAX_KEY_LENGTH + 1))]) {
        await expect(attempt()).rejects.toMatchObject({ code: 'ERR_STATE_KEY' });
      }
      expect(await store.stats('s')).toEqual({ bytes: 7 + MAX_KEY_LENGTH, extensions: { a: 7 + MAX_KEY_LENGTH } });
    });

    test('clear removes one value or all values of a scope, and returns their number', async () => {
      const { store } = await start();
      for (const scope of [a, b, elsewhere])
        for (const key of ['1', '2', '3']) await store.set(scope, { key, value: key }, roomy);

      expect(await store.clear(a, '1')).toBe(1);
      expect(await store.clear(a, '1')).toBe(0);
      expect(await store.clear(a)).toBe(2);
      expect(await store.clear(a)).toBe(0);
      expect(await store.stats('s')).toEqual({ bytes: 6, extensions: { b: 6 } });
      expect(await store.stats('t')).toEqual({ bytes: 6, extensions: { a: 6 } });
    });

    test('clearExtension clears all sessions, and clearSession clears all extensions', async () => {
      const { store } = await start();
      for (const scope of [a, b, elsewhere])
        for (const key of ['1', '2']) await store.set(scope, { key, value: key }, roomy);

      expect(await store.clearExtension('a')).toBe(4);
      expect(await store.clearExtension('a')).toBe(0);
      expect(await store.stats('t')).toEqual({ bytes: 0, extensions: {} });
      expect(await store.clearSession('s')).toBe(2);
      expect(await store.clearSession('s')).toBe(0);
      expect(await store.get(b, '1', roomy)).toBe(undefined);
      expect(await store.set(b, { key: '1', value: 'anew' }, roomy)).toMatchObject({
        stored: true,
        bytesBefore: 0,
        bytesAfter: 5,
      });
    });

    test('stats returns the sum of the stored values', async () => {
      const { store } = await start();
      await store.set(a, { key: '1', value: 'éé' }, roomy);
      await store.set(a, { key: '2', value: 'x' }, roomy);
      await store.set(b, { key: '1', value: 'xyz' }, roomy);

      expect(await store.stats('s')).toEqual({ bytes: 11, extensions: { a: 7, b: 4 } });
      expect(await store.stats('never')).toEqual({ bytes: 0, extensions: {} });
    });

    test('a write above the limit of an extension evicts only as many least recently used values as needed', async () => {
      const { store } = await start();
      for (const key of ['1', '2', '3', '4']) await store.set(a, { key, value: 'xx' }, tight);
      await store.get(a, '1', tight);

      const change = await store.set(a, { key: '5', value: 'xxxxx' }, tight);

      expect(change).toEqual({
        stored: true,
        evicted: [
          { key: '2', bytes: 3 },
          { key: '3', bytes: 3 },
        ],
        bytesBefore: 12,
        bytesAfter: 12,
      });
      const left = await Promise.all(['1', '2', '3', '4', '5'].map((key) => store.get(a, key, tight)));
      expect(left).toEqual(['xx', undefined, undefined, 'xx', 'xxxxx']);
    });

    test('a growing value evicts other values, never itself', async () => {
      const { store } = await start();
      await store.set(a, { key: 'old', value: 'xxx' }, tight);
      await store.set(a, { key: 'mid', value: 'xxx' }, tight);

      expect(await store.set(a, { key: 'old', value: 'x'.repeat(9) }, tight)).toEqual({
        stored: true,
        evicted: [{ key: 'mid', bytes: 6 }],
        bytesBefore: 12,
        bytesAfter: 12,
      });
      expect(await store.set(a, { key: 'old', value: 'x'.repeat(11) }, tight)).toMatchObject({
        evicted: [],
        bytesAfter: 14,
      });
    });

    test('a write above the limit of a session evicts only values of the writing extension', async () => {
      const { store } = await start();
      await store.set(b, { key: 'other', value: 'x'.repeat(9) }, tight);
      await store.set(a, { key: '1', value: 'xxx' }, tight);
      await store.set(a, { key: '2', value: 'xxx' }, tight);

      expect(await store.set(a, { key: '3', value: 'xxxx' }, tight)).toEqual({
        stored: true,
        evicted: [{ key: '1', bytes: 4 }],
        bytesBefore: 22,
        bytesAfter: 23,
      });
      expect(await store.stats('s')).toEqual({ bytes: 23, extensions: { a: 9, b: 14 } });
    });

    test('a value that cannot fit is refused, and the old value is kept', async () => {
      const { store } = await start();
      await store.set(b, { key: 'other', value: 'x'.repeat(9) }, tight);
      await store.set(a, { key: '1', value: 'old' }, tight);
      await store.set(a, { key: '2', value: 'xx' }, tight);
      const refused = { stored: false, evicted: [], bytesBefore: 21, bytesAfter: 21 };

      expect(await store.set(a, { key: '1', value: 'x'.repeat(10) }, tight)).toEqual(refused);
      expect(await store.set(a, { key: '1', value: 'x'.repeat(14) }, { ...tight, sessionBytes: 100 })).toEqual(refused);
      expect(await store.get(a, '1', tight)).toBe('old');
      expect(await store.get(a, '2', tight)).toBe('xx');
    });

    test('100 concurrent writes never exceed the limits', async () => {
      const { store } = await start();
      await store.set(b, { key: 'other', value: 'xxxx' }, tight);

      const changes = await Promise.all(
        Array.from({ length: 100 }, (_, at) => store.set(a, { key: `${at}`, value: 'x'.repeat(1 + (at % 5)) }, tight)),
      );

      expect(changes.filter(({ stored }) => !stored)).toEqual([]);
      expect(Math.max(...changes.map(({ bytesAfter }) => bytesAfter))).toBeLessThanOrEqual(23);
      const { bytes, extensions } = await store.stats('s');
      expect(bytes).toBe(9 + (extensions.a ?? 0));
      expect(extensions.b).toBe(9);
      expect(bytes).toBeLessThanOrEqual(23);
    });

    test('a scope with the maximum number of keys evicts the least recently used one', async () => {
      const { store } = await start();
      const writes = Array.from({ length: MAX_SCOPE_KEYS }, (_, at) => at);
      for (let at = 0; at < writes.length; at += 500) {
        await Promise.all(writes.slice(at, at + 500).map((key) => store.set(a, { key: `${key}`, value: 'x' }, roomy)));
      }
      await store.get(a, '0', roomy);

      const { evicted, bytesAfter } = await store.set(a, { key: 'more', value: 'x' }, roomy);

      expect({ evicted, bytesAfter }).toEqual({
        evicted: [{ key: '1', bytes: 2 }],
        // 9,999 keys of digits without "1", and "more", with a value of one byte each.
        bytesAfter: MAX_SCOPE_KEYS + 38_889 + 4,
      });
      expect(await store.get(a, '0', roomy)).toBe('x');
      expect(await store.get(a, '1', roomy)).toBe(undefined);
    }, 60_000);

    test('an unused value expires, and no longer counts in any size', async () => {
      const { store, pass } = await start();
      await store.set(a, { key: 'k', value: 'xx' }, short);
      await store.set(b, { key: 'k', value: 'xxx' }, { ...short, ttlMs: 8 * unitMs });

      await pass(5);

      expect(await store.stats('s')).toEqual({ bytes: 4, extensions: { b: 4 } });
      expect(await store.get(a, 'k', short)).toBe(undefined);
      expect(await store.clear(a)).toBe(0);
      expect(await store.set(a, { key: 'k', value: 'x' }, short)).toEqual({
        stored: true,
        evicted: [],
        bytesBefore: 4,
        bytesAfter: 6,
      });
    });

    test('reading and writing a value restart its lifetime', async () => {
      const { store, pass } = await start();
      for (const key of ['read', 'written', 'left']) await store.set(a, { key, value: 'x' }, short);

      await pass(2);
      await store.get(a, 'read', short);
      await store.set(a, { key: 'written', value: 'y' }, short);
      await pass(3);

      const values = await Promise.all(['read', 'written', 'left'].map((key) => store.get(a, key, short)));
      expect(values).toEqual(['x', 'y', undefined]);
    });

    test('unused values that expire with their session are kept while the session is active', async () => {
      const { store, pass } = await start();
      await store.set(a, { key: 'k', value: 'x' }, bound);
      await store.set(b, { key: 'k', value: 'x' }, bound);
      await store.set(a, { key: 'brief', value: 'x' }, { ...bound, ttlMs: 3 * unitMs });

      for (let count = 0; count < 3; count += 1) {
        await pass(2);
        await store.touch('s', bound);
      }

      expect(await store.stats('s')).toEqual({ bytes: 4, extensions: { a: 2, b: 2 } });
      await pass(5);
      expect(await store.stats('s')).toEqual({ bytes: 0, extensions: {} });
      expect(await store.get(a, 'k', bound)).toBe(undefined);
    });

    test('the use of one value keeps the session, but not values with a shorter lifetime', async () => {
      const { store, pass } = await start();
      await store.set(a, { key: 'bound', value: 'x' }, bound);
      await store.set(b, { key: 'bound', value: 'x' }, bound);
      await store.set(b, { key: 'brief', value: 'x' }, { ...bound, ttlMs: 3 * unitMs });

      await pass(2);
      await store.get(a, 'bound', bound);
      await pass(2);
      await store.set(a, { key: 'new', value: 'x' }, bound);
      await pass(2);

      expect(await store.stats('s')).toEqual({ bytes: 16, extensions: { a: 10, b: 6 } });
    });

    test('no value outlives its session', async () => {
      const { store, pass } = await start();
      await store.set(a, { key: 'k', value: 'x' }, { ...roomy, ttlMs: 8 * unitMs, sessionTtlMs: 9 * unitMs });

      await store.touch('s', { ...roomy, sessionTtlMs: 2 * unitMs });
      await pass(3);

      expect(await store.get(a, 'k', roomy)).toBe(undefined);
    });

    test('a write with `ifValue` stores only over that value', async () => {
      const { store } = await start();
      const conflict = { stored: false, conflict: true, evicted: [], bytesBefore: 2, bytesAfter: 2 };

      expect(await store.set(a, { key: 'k', value: '1', ifValue: null }, roomy)).toMatchObject({ stored: true });
      expect(await store.set(a, { key: 'k', value: '2', ifValue: null }, roomy)).toEqual(conflict);
      expect(await store.set(a, { key: 'k', value: '2', ifValue: '0' }, roomy)).toEqual(conflict);
      expect(await store.set(a, { key: 'k', value: '2', ifValue: '1' }, roomy)).toMatchObject({ stored: true });
      expect(await store.get(a, 'k', roomy)).toBe('2');
    });

    test('of many concurrent writes over the same value, exactly one is stored', async () => {
      const { store } = await start();
      await store.set(a, { key: 'k', value: 'old' }, bound);

      const changes = await Promise.all(
        Array.from({ length: 20 }, (_, at) => store.set(a, { key: 'k', value: `${at}`, ifValue: 'old' }, bound)),
      );

      expect(changes.filter(({ stored }) => stored)).toHaveLength(1);
      expect(changes.filter((change) => change.conflict)).toHaveLength(19);
    });

    test('a touch, or a read without a result, creates no session', async () => {
      const { store } = await start();

      await store.touch('s', roomy);
      await store.get(a, 'k', roomy);

      expect(await store.stats('s')).toEqual({ bytes: 0, extensions: {} });
      expect(await store.clearSession('s')).toBe(0);
    });
  });
}
