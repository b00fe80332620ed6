import type { SessionQuery, SessionStore } from '../../../state/session-store.js';
import type { CaseTable } from '../contract-case.js';
import { anyNumber, expectFailure, expectThat } from '../expect-that.js';
import { type SessionSubject, said, savedSessions } from './subject.js';

/** Reads all pages, and returns the ids of each. */
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
  'list returns a summary of each session, the last saved first': async ({ open, pass }) => {
    const store = await open();
    const details = { owner: 'ada', title: 'Ships', data: { tags: ['a'], none: [], ratio: 0.1, deep: { x: null } } };
    await store.save('old', { keep: 0, append: [said('1'), said('2')], details }, 0);
    await store.save('new', { keep: 0, append: [], details: { owner: 'ada' } }, 0);
    await pass(5);
    await store.save('old', { keep: 2, append: [said('3')], details: { owner: 'bob', title: 'ignored' } }, 1);
    await store.save('other', { keep: 0, append: [], details: { owner: 'bob' } }, 0);
    await store.save('nobody', { keep: 0, append: [] }, 0);

    const { sessions, next } = await store.list({ owner: 'ada' });

    const times = { createdAt: anyNumber, updatedAt: anyNumber };
    expectThat(sessions).equals([
      { id: 'old', ...details, revision: 2, length: 3, ...times },
      { id: 'new', owner: 'ada', revision: 1, length: 0, ...times },
    ]);
    expectThat(next).equals(undefined);
    const [old] = sessions;
    expectThat(old?.updatedAt).isAtLeast(old?.createdAt ?? Number.NaN);
    expectThat(await store.list({ owner: 'nobody' })).equals({ sessions: [], next: undefined });
  },
  'pages of any size contain each session once': async (subject) => {
    const ids = ['a', 'b', 'c', 'd', '{e}', 'f:g', 'ü 🎉'];
    const store = await savedSessions(subject, ids);

    for (const limit of [1, 2, 3, 7, 8]) {
      const pages = await pagesOf(store, { owner: 'ada', limit });

      expectThat(pages.flat().sort()).equals([...ids].sort());
      const lengths = Array.from({ length: Math.ceil(7 / limit) }, (_, at) => Math.min(limit, 7 - at * limit));
      expectThat(pages.map(({ length }) => length)).equals(lengths);
    }
  },
  'list refuses a query that is not valid': async ({ open }) => {
    const store = await open();

    for (const [query, option] of invalidQueries) {
      await expectFailure(() => store.list(query as never), { code: 'ERR_OPTION_INVALID', option });
    }
  },
  'a deleted session is not listed, and its page is still full': async (subject) => {
    const store = await savedSessions(subject, ['a', 'b', 'c', 'd', 'e']);
    for (const id of ['b', 'd']) await store.delete(id);

    const pages = await pagesOf(store, { owner: 'ada', limit: 2 });

    expectThat(pages.map(({ length }) => length)).equals([2, 1]);
    expectThat(pages.flat().sort()).equals(['a', 'c', 'e']);
  },
  'a session that is saved between two pages moves to the front, and no other is left out': async (subject) => {
    const store = await savedSessions(subject, ['a', 'b', 'c', 'd']);
    const first = await store.list({ owner: 'ada', limit: 2 });
    const [, last] = first.sessions;
    await subject.pass(5);
    await store.save(last?.id ?? '', { keep: 1, append: [] }, 1);

    const second = await store.list({ owner: 'ada', limit: 2, after: first.next });

    const ids = [...first.sessions, ...second.sessions].map(({ id }) => id);
    expectThat(ids.sort()).equals(['a', 'b', 'c', 'd']);
  },
};
