import { describe, expect, test } from 'vitest';
import type { Awaitable } from '../../../src/internal/promise.js';
import type { Message } from '../../../src/model/message.js';
import type { KnownSession, SessionStore } from '../../../src/state/session-store.js';

const said = (text: string): Message => ({ role: 'user', content: text });

/** Defines the tests of conditional loads that every session store must pass. */
export function testConditionalLoads(name: string, open: () => Awaitable<SessionStore>): void {
  describe(`${name} loads only what is new:`, () => {
    /** Saves three revisions, and returns the session as of each revision. */
    const saved = async () => {
      const store = await open();
      const known: KnownSession[] = [];
      for (const [expected, change] of [
        { keep: 0, append: [said('1'), said('2')] },
        { keep: 2, append: [said('3')] },
        { keep: 1, append: [said('4'), said('5')] },
      ].entries()) {
        await store.save('a', change, expected);
        const { uid = '', revision = 0 } = (await store.load('a')) ?? {};
        known.push({ uid, revision });
      }
      return { store, known };
    };

    test('a load with the stored revision returns no messages', async () => {
      const { store, known } = await saved();

      expect(await store.load('a', known[2])).toEqual({ ...known[2], keep: 3, messages: [] });
    });

    test.each([0, 1])('a load with the older revision %i + 1 returns the later messages', async (index) => {
      const { store, known } = await saved();

      expect(await store.load('a', known[index])).toEqual({ ...known[2], keep: 1, messages: [said('4'), said('5')] });
    });

    test('the uid stays when the session is saved again', async () => {
      const { known } = await saved();

      expect(new Set(known.map(({ uid }) => uid)).size).toBe(1);
    });

    test('a load with the uid of a deleted session returns all messages', async () => {
      const { store, known } = await saved();
      await store.delete('a');
      for (const expected of [0, 1, 2]) await store.save('a', { keep: expected, append: [said('new')] }, expected);

      const loaded = await store.load('a', known[2]);

      expect(loaded).toMatchObject({ keep: 0, revision: 3, messages: [said('new'), said('new'), said('new')] });
      expect(loaded?.uid).not.toBe(known[2]?.uid);
    });

    test('a load with a revision that is not stored returns all messages', async () => {
      const { store, known } = await saved();

      const loaded = await store.load('a', { uid: known[0]?.uid ?? '', revision: 9 });

      expect(loaded).toMatchObject({ keep: 0, messages: [said('1'), said('4'), said('5')] });
    });

    test('the save that creates a session stores its uid, and a later save with another uid is refused', async () => {
      const store = await open();
      await store.save('a', { keep: 0, append: [said('1')], uid: 'mine' }, 0);

      expect((await store.load('a'))?.uid).toBe('mine');
      expect(await store.save('a', { keep: 1, append: [said('x')], uid: 'theirs' }, 1)).toBe(undefined);
      expect(await store.save('a', { keep: 1, append: [said('2')], uid: 'mine' }, 1)).toBe(2);
    });

    test('the loaded parts produce the stored messages after any changes', async () => {
      const store = await open();
      let mine: Message[] = [];
      let known: KnownSession | undefined;
      for (let revision = 0; revision < 40; revision += 1) {
        const all = (await store.load('a'))?.messages ?? [];
        const keep = all.length - ((revision * 7) % 5) * Number(all.length > 4);
        await store.save('a', { keep, append: [said(`${revision}`), said('x')].slice(0, revision % 3) }, revision);
        if (revision % 4 !== 0) continue;
        const later = await store.load('a', known);
        mine = [...mine.slice(0, later?.keep), ...(later?.messages ?? [])];
        known = later;

        expect(mine).toEqual((await store.load('a'))?.messages);
      }
    });
  });
}
