import type { SessionQuery, SessionStore } from '../../../state/session-store.js';
import type { CaseTable } from '../contract-case.js';
import { anyNumber, expectFailure, expectThat } from '../expect-that.js';
import { added, entryOf, type SessionSubject, saveSessions } from './subject.js';

async function pagesOf(store: SessionStore, query: SessionQuery): Promise<string[][]> {
  const pages: string[][] = [];
  let after: string | undefined;
  do {
    const { sessions, next } = await store.list({ ...query, after });
    pages.push(sessions.map(({ id }) => id));
    after = next;
  } while (after !== undefined);
  return pages;
}

const invalidQueries = [
  [{ owner: 1 }, 'owner'],
  [{ owner: 'a', limit: 0 }, 'limit'],
  [{ owner: 'a', limit: 1.5 }, 'limit'],
  [{ owner: 'a', limit: 1001 }, 'limit'],
  [{ owner: 'a', after: 'x' }, 'after'],
  [{ owner: 'a', page: 2 }, 'page'],
] as const;

export const listCases: CaseTable<SessionSubject> = {
  'list returns a summary of each session with entries, the latest first': async ({ store, pass }) => {
    const details = { owner: 'ada', title: 'Ships', data: { tags: ['a'], none: [], ratio: 0.1, deep: { x: null } } };
    await added(store, 'old', { entries: [entryOf('1'), entryOf('2')], details });
    await added(store, 'new', { entries: [entryOf('1')], details: { owner: 'ada' } });
    await pass(5);
    await added(store, 'old', { entries: [entryOf('3')], details: { owner: 'bob', title: 'ignored' } });
    await added(store, 'other', { entries: [entryOf('1')], details: { owner: 'bob' } });
    await added(store, 'nobody', { entries: [entryOf('1')] });
    await store.claim('empty', { token: 'x', run: 'x', ttlMs: 60_000, details: { owner: 'ada' } });

    const { sessions, next } = await store.list({ owner: 'ada' });

    const times = { createdAt: anyNumber, updatedAt: anyNumber };
    expectThat(sessions).equals([
      { id: 'old', ...details, length: 3, ...times },
      { id: 'new', owner: 'ada', length: 1, ...times },
    ]);
    expectThat(next).equals(undefined);
    const [old] = sessions;
    expectThat(old?.updatedAt).isAtLeast(old?.createdAt ?? Number.NaN);
    expectThat(await store.list({ owner: 'nobody' })).equals({ sessions: [], next: undefined });
  },
  'pages of any size contain each session once': async ({ store }) => {
    const ids = ['a', 'b', 'c', 'd', '{e}', 'f:g', 'ü 🎉'];
    await saveSessions(store, ids);

    for (const limit of [1, 2, 3, 7, 8]) {
      const pages = await pagesOf(store, { owner: 'ada', limit });

      expectThat(pages.flat().sort()).equals([...ids].sort());
      const lengths = Array.from({ length: Math.ceil(7 / limit) }, (_, at) => Math.min(limit, 7 - at * limit));
      expectThat(pages.map(({ length }) => length)).equals(lengths);
    }
  },
  'list refuses a query that is not valid': async ({ store }) => {
    for (const [query, option] of invalidQueries) {
      await expectFailure(() => store.list(query as never), { code: 'ERR_OPTION_INVALID', option });
    }
  },
  'a deleted session is not listed, and its page is still full': async ({ store }) => {
    await saveSessions(store, ['a', 'b', 'c', 'd', 'e']);
    for (const id of ['b', 'd']) await store.delete(id);

    const pages = await pagesOf(store, { owner: 'ada', limit: 2 });

    expectThat(pages.map(({ length }) => length)).equals([2, 1]);
    expectThat(pages.flat().sort()).equals(['a', 'c', 'e']);
  },
  'a session that gets an entry between two pages moves to the front': async ({ store, pass }) => {
    await saveSessions(store, ['a', 'b', 'c', 'd']);
    const first = await store.list({ owner: 'ada', limit: 2 });
    const [, last] = first.sessions;
    await pass(5);
    await added(store, last?.id ?? '', { entries: [entryOf('2')] });

    const second = await store.list({ owner: 'ada', limit: 2, after: first.next });

    const ids = [...first.sessions, ...second.sessions].map(({ id }) => id);
    expectThat(ids.sort()).equals(['a', 'b', 'c', 'd']);
  },
};
