import type { Entry } from '../../../state/record/entry.js';
import type { CaseTable } from '../contract-case.js';
import { expectThat } from '../expect-that.js';
import { added, entryOf, type SessionSubject } from './subject.js';

export const loadCases: CaseTable<SessionSubject> = {
  'a load with known entries returns the later ones': async ({ store }) => {
    await added(store, 'a', { entries: [entryOf('1'), entryOf('2'), entryOf('3')] });
    const { uid = '' } = (await store.load('a')) ?? {};

    const later = await store.load('a', { known: { uid, length: 1 } });
    expectThat(later).equals({ uid, length: 3, offset: 1, entries: [entryOf('2'), entryOf('3')] });
    expectThat(await store.load('a', { known: { uid, length: 3 } })).matches({ offset: 3, entries: [] });
    expectThat(await store.load('a', { known: { uid, length: 4 } })).matches({ offset: 0 });
    expectThat(await store.load('a', { known: { uid: 'other', length: 1 } })).matches({ offset: 0 });
  },
  'a load returns the last entries before a position': async ({ store }) => {
    await added(store, 'a', { entries: ['1', '2', '3', '4'].map(entryOf) });

    expectThat(await store.load('a', { before: 3, limit: 2 })).matches({
      length: 4,
      offset: 1,
      entries: [entryOf('2'), entryOf('3')],
    });
    expectThat(await store.load('a', { before: 1, limit: 2 })).matches({ offset: 0, entries: [entryOf('1')] });
    expectThat(await store.load('a', { limit: 1 })).matches({ offset: 3, entries: [entryOf('4')] });
    expectThat(await store.load('a', { before: 0, limit: 1 })).matches({ offset: 0, entries: [] });
  },
  'the uid stays when entries are added': async ({ store }) => {
    await added(store, 'a', { entries: [entryOf('1')] });
    const before = await store.load('a');
    await added(store, 'a', { entries: [entryOf('2')] });

    expectThat((await store.load('a'))?.uid).equals(before?.uid);
  },
  'a session may be loaded many times at once, also while entries are added': async ({ store }) => {
    await added(store, 'a', { entries: [entryOf('0')] });
    const adding = (async () => {
      for (let at = 1; at < 20; at += 1) await added(store, 'a', { entries: [entryOf(`${at}`)] });
    })();

    const loads = await Promise.all(Array.from({ length: 20 }, async () => store.load('a')));
    await adding;

    for (const load of loads) {
      const entries: Entry[] = Array.from({ length: load?.length ?? 0 }, (_, at) => entryOf(`${at}`));
      expectThat(load?.entries).equals(entries);
    }
    expectThat(await store.load('a')).matches({ length: 20 });
  },
};
