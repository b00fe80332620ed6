import { describe, expect, test } from 'vitest';
import type { Message } from '../../../src/model/message.js';
import type { SessionQuery, SessionStore } from '../../../src/state/session-store.js';
import type { TestedStore } from './tested-store.js';

const said = (text: string): Message => ({ role: 'user', content: text });

/** Defines the tests of lists, details and forks that every session store must pass. */
export function testSessionLists({ name, open, pass }: TestedStore): void {
  const saved = async (ids: readonly string[], owner = 'ada') => {
    const store = await open();
    for (const id of ids) await store.save(id, { keep: 0, append: [said(id)], details: { owner } }, 0);
    return store;
  };
  /** Reads all pages, and returns the ids of each. */
  const pagesOf = async (store: SessionStore, query: SessionQuery) => {
    const pages: string[][] = [];
    let after: string | undefined;
    do {
      const { sessions, next } = await store.list({ ...query, after });
      pages.push(sessions.map(({ id }) => id));
      after = next;
    } while (after !== undefined);
    return pages;
  };

  describe(`${name} lists the sessions of an owner:`, () => {
    test('returns a summary of each session, the last saved first', async () => {
      const store = await open();
      const details = { owner: 'ada', title: 'Ships', data: { tags: ['a'], none: [], ratio: 0.1, deep: { x: null } } };
      await store.save('old', { keep: 0, append: [said('1'), said('2')], details }, 0);
      await store.save('new', { keep: 0, append: [], details: { owner: 'ada' } }, 0);
      await pass(5);
      await store.save('old', { keep: 2, append: [said('3')], details: { owner: 'bob', title: 'ignored' } }, 1);
      await store.save('other', { keep: 0, append: [], details: { owner: 'bob' } }, 0);
      await store.save('nobody', { keep: 0, append: [] }, 0);

      const { sessions, next } = await store.list({ owner: 'ada' });

      const times = { createdAt: expect.any(Number), updatedAt: expect.any(Number) };
      expect(sessions).toEqual([
        { id: 'old', ...details, revision: 2, length: 3, ...times },
        { id: 'new', owner: 'ada', revision: 1, length: 0, ...times },
      ]);
      expect(next).toBe(undefined);
      const [old] = sessions;
      expect(old?.updatedAt).toBeGreaterThanOrEqual(old?.createdAt ?? Number.NaN);
      expect(await store.list({ owner: 'nobody' })).toEqual({ sessions: [], next: undefined });
    });

    test.each([1, 2, 3, 7, 8])('pages of %d contain each of seven sessions once', async (limit) => {
      const ids = ['a', 'b', 'c', 'd', '{e}', 'f:g', 'ü 🎉'];
      const store = await saved(ids);

      const pages = await pagesOf(store, { owner: 'ada', limit });

      expect(pages.flat().sort()).toEqual([...ids].sort());
      expect(pages.map(({ length }) => length)).toEqual(
        Array.from({ length: Math.ceil(7 / limit) }, (_, index) => Math.min(limit, 7 - index * limit)),
      );
    });

    test('a deleted session is not listed, and its page is still full', async () => {
      const store = await saved(['a', 'b', 'c', 'd', 'e']);
      for (const id of ['b', 'd']) await store.delete(id);

      const pages = await pagesOf(store, { owner: 'ada', limit: 2 });

      expect(pages.map(({ length }) => length)).toEqual([2, 1]);
      expect(pages.flat().sort()).toEqual(['a', 'c', 'e']);
    });

    test('a session that is saved between two pages moves to the front, and no other is left out', async () => {
      const store = await saved(['a', 'b', 'c', 'd']);
      const first = await store.list({ owner: 'ada', limit: 2 });
      const [, last] = first.sessions;
      await pass(5);
      await store.save(last?.id ?? '', { keep: 1, append: [] }, 1);

      const second = await store.list({ owner: 'ada', limit: 2, after: first.next });

      const ids = [...first.sessions, ...second.sessions].map(({ id }) => id);
      expect(ids.sort()).toEqual(['a', 'b', 'c', 'd']);
    });

    test.each([
      [{ owner: 1 }, 'owner'],
      [{ owner: 'a', limit: 0 }, 'limit'],
      [{ owner: 'a', limit: 1.5 }, 'limit'],
      [{ owner: 'a', limit: 1001 }, 'limit'],
      [{ owner: 'a', after: 'x' }, 'after'],
      [{ owner: 'a', page: 2 }, 'page'],
    ])('refuses the query %j', async (query, option) => {
      const store = await open();

      await expect((async () => store.list(query as never))()).rejects.toMatchObject({
        code: 'ERR_OPTION_INVALID',
        option,
      });
    });
  });

  describe(`${name} stores the details of a session:`, () => {
    test('update sets the title or the data, and keeps the rest and the revision', async () => {
      const store = await saved(['a']);

      expect(await store.update('a', { title: 'One' })).toMatchObject({ owner: 'ada', title: 'One', revision: 1 });
      expect(await store.update('a', { data: { n: 1 } })).toMatchObject({ title: 'One', data: { n: 1 } });
      expect(await store.update('a', { title: '', data: {} })).toMatchObject({ owner: 'ada', title: '', data: {} });
      expect(await store.update('a', {})).toMatchObject({ id: 'a', title: '', data: {}, revision: 1, length: 1 });
      expect(await store.update('never there', { title: 'x' })).toBe(undefined);
      expect(await store.load('never there')).toBe(undefined);
    });

    test('shares no data with its callers', async () => {
      const store = await open();
      const data = { list: [1] };
      await store.save('a', { keep: 0, append: [], details: { data } }, 0);
      data.list.push(2);
      const before = await store.update('a', {});
      Object.assign(before?.data ?? {}, { list: [3] });

      expect((await store.update('a', {}))?.data).toEqual({ list: [1] });
    });

    test('refuses details that are not valid', async () => {
      const store = await saved(['a']);
      const refused = { code: 'ERR_OPTION_INVALID' };
      const loop: Record<string, unknown> = {};
      loop.loop = loop;
      const create = async (details: object) => store.save('b', { keep: 0, append: [], details }, 0);

      await expect(create({ title: 1 })).rejects.toMatchObject({ ...refused, option: 'title' });
      await expect(create({ data: loop })).rejects.toMatchObject({ ...refused, option: 'data' });
      await expect((async () => store.update('a', { data: 'x' as never }))()).rejects.toMatchObject(refused);
      expect(await store.load('b')).toBe(undefined);
    });
  });

  describe(`${name} forks a session:`, () => {
    test('copies the first messages and the details to a new id', async () => {
      const store = await open();
      const details = { owner: 'ada', title: 'Ships' };
      await store.save('a', { keep: 0, append: [said('1'), said('2'), said('3')], details }, 0);

      const forked = await store.fork('a', { id: 'b', keep: 2, details: { title: 'Boats' } });
      await store.save('b', { keep: 2, append: [said('other')] }, 1);

      expect(forked).toMatchObject({ id: 'b', owner: 'ada', title: 'Boats', revision: 1, length: 2 });
      expect((await store.load('b'))?.messages).toEqual([said('1'), said('2'), said('other')]);
      expect((await store.load('a'))?.messages).toEqual([said('1'), said('2'), said('3')]);
      expect((await store.load('a'))?.uid).not.toBe((await store.load('b'))?.uid);
      expect((await store.list({ owner: 'ada' })).sessions).toHaveLength(2);
    });

    test('copies all messages by default', async () => {
      const store = await saved(['a']);

      expect(await store.fork('a', { id: 'b' })).toMatchObject({ length: 1 });
    });

    test('refuses an id that is in use and a `keep` that is not valid, and changes nothing', async () => {
      const store = await saved(['a', 'b']);
      const fork = async (id: string, keep?: number) => store.fork('a', { id, keep });

      await expect(fork('b')).rejects.toMatchObject({ code: 'ERR_SESSION_EXISTS', session: 'b' });
      await expect(fork('a')).rejects.toMatchObject({ code: 'ERR_SESSION_EXISTS' });
      for (const keep of [-1, 1.5, 2]) await expect(fork('c', keep)).rejects.toMatchObject({ option: 'keep' });

      expect(await store.load('c')).toBe(undefined);
      expect((await store.load('b'))?.messages).toEqual([said('b')]);
    });

    test('returns undefined for an unknown session', async () => {
      const store = await open();

      expect(await store.fork('a', { id: 'b' })).toBe(undefined);
    });
  });
}
