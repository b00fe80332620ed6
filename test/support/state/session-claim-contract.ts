import { describe, expect, test } from 'vitest';
import type { Message } from '../../../src/model/message.js';
import type { TestedStore } from './tested-store.js';

const said = (text: string): Message => ({ role: 'user', content: text });
const LONG_MS = 60_000;
const append = { keep: 1, append: [said('2')] };

/** Defines the tests of claims that every session store must pass. */
export function testSessionClaims({ name, open, pass }: TestedStore): void {
  describe(`${name} lets one caller resume a session:`, () => {
    const saved = async () => {
      const store = await open();
      await store.save('a', { keep: 0, append: [said('1')] }, 0);
      const claim = async (token: string, { revision = 1, ttlMs = LONG_MS } = {}) =>
        store.claim('a', { token, revision, ttlMs });
      return { store, claim };
    };

    test('only one of many concurrent claims succeeds', async () => {
      const { claim } = await saved();

      const attempts = await Promise.all(Array.from({ length: 20 }, (_, index) => claim(`${index}`)));

      expect(attempts.filter((attempt) => attempt !== undefined)).toEqual([1]);
    });

    test('refuses a claim of another revision and of an unknown session', async () => {
      const { store, claim } = await saved();

      expect(await claim('x', { revision: 0 })).toBe(undefined);
      expect(await claim('x', { revision: 2 })).toBe(undefined);
      expect(await store.claim('b', { token: 'x', revision: 0, ttlMs: LONG_MS })).toBe(undefined);
      expect(await claim('y')).toBe(1);
    });

    test('a claim that is sent twice counts once', async () => {
      const { claim } = await saved();

      expect([await claim('x'), await claim('x'), await claim('y')]).toEqual([1, 1, undefined]);
    });

    test('only the holder of a claim can save, and its save ends the claim', async () => {
      const { store, claim } = await saved();
      await claim('x');

      expect(await store.save('a', append, 1)).toBe(undefined);
      expect(await store.save('a', { ...append, claim: 'y' }, 1)).toBe(undefined);
      expect(await store.save('a', { ...append, claim: 'x' }, 1)).toBe(2);
      expect(await store.renew('a', 'x', LONG_MS)).toBe(false);
      expect(await claim('y', { revision: 2 })).toBe(1);
    });

    test('a released claim can be taken, and counts as an attempt until the next save', async () => {
      const { store, claim } = await saved();
      await claim('x');
      await store.release('a', 'y');
      expect(await claim('y')).toBe(undefined);

      await store.release('a', 'x');

      expect(await store.renew('a', 'x', LONG_MS)).toBe(false);
      expect(await store.save('a', { ...append, claim: 'x' }, 1)).toBe(undefined);
      expect(await claim('y')).toBe(2);
      expect(await store.save('a', { ...append, claim: 'y' }, 1)).toBe(2);
      expect(await claim('z', { revision: 2 })).toBe(1);
    });

    test('a claim that is not renewed in time can be taken over', async () => {
      const { store, claim } = await saved();
      expect(await claim('x', { ttlMs: 1 })).toBe(1);
      await pass(10);

      expect(await claim('y', { ttlMs: LONG_MS })).toBe(2);

      expect(await store.renew('a', 'x', LONG_MS)).toBe(false);
      expect(await store.save('a', { ...append, claim: 'x' }, 1)).toBe(undefined);
      await store.release('a', 'x');
      expect(await store.renew('a', 'y', LONG_MS)).toBe(true);
      expect(await store.save('a', { ...append, claim: 'y' }, 1)).toBe(2);
    });

    test('a claim that is late but not taken over can be renewed, and its holder can save', async () => {
      const { store, claim } = await saved();
      await claim('x', { ttlMs: 1 });
      await pass(10);

      expect(await store.renew('a', 'x', LONG_MS)).toBe(true);

      expect(await claim('y')).toBe(undefined);
      expect(await store.save('a', { ...append, claim: 'x' }, 1)).toBe(2);
    });

    test('a late claim that nobody took over does not stop a save without a claim', async () => {
      const { store, claim } = await saved();
      await claim('x', { ttlMs: 1 });
      await pass(10);

      expect(await store.save('a', append, 1)).toBe(2);
      expect(await store.save('a', { ...append, claim: 'x' }, 2)).toBe(undefined);
    });

    test('renew and release of an unknown session do nothing', async () => {
      const store = await open();

      expect(await store.renew('never there', 'x', LONG_MS)).toBe(false);
      await store.release('never there', 'x');

      expect(await store.load('never there')).toBe(undefined);
    });
  });
}
