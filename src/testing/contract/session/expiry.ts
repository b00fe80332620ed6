import type { CaseTable } from '../contract-case.js';
import { expectThat } from '../expect-that.js';
import { added, claimed, type ExpirySubject, entryOf, saveSessions } from './subject.js';

export const expiryCases: CaseTable<ExpirySubject> = {
  'a session expires if it is neither loaded nor added to within its lifetime': async ({ store, pass, ttlMs }) => {
    await saveSessions(store, ['a', 'b']);

    await pass(ttlMs * 1.2);

    expectThat(await store.load('a')).equals(undefined);
    expectThat(await store.append('b', { token: 'once', length: 1, entries: [entryOf('2')] })).matches({
      owned: false,
    });
    expectThat(await claimed(store, 'b')).matches({ claimed: true, length: 0 });
  },
  'each load and each append restarts the lifetime': async ({ store, pass, ttlMs }) => {
    await saveSessions(store, ['a', 'b', 'c']);

    await pass(ttlMs * 0.6);
    await store.load('a');
    await added(store, 'b', { entries: [entryOf('2')] });
    await pass(ttlMs * 0.6);

    expectThat(await store.load('a')).matches({ entries: [entryOf('a')] });
    expectThat(await store.load('b')).matches({ entries: [entryOf('b'), entryOf('2')] });
    expectThat(await store.load('c')).equals(undefined);
  },
};
