import type { CaseTable } from '../contract-case.js';
import { expectThat } from '../expect-that.js';
import { type ExpirySubject, said, savedSessions } from './subject.js';

export const expiryCases: CaseTable<ExpirySubject> = {
  'a session expires if it is neither loaded nor saved within its lifetime': async (subject) => {
    const store = await savedSessions(subject, ['a', 'b']);

    await subject.pass(subject.ttlMs * 1.2);

    expectThat(await store.load('a')).equals(undefined);
    expectThat(await store.save('b', { keep: 1, append: [said('2')] }, 1)).equals(undefined);
    expectThat(await store.save('b', { keep: 0, append: [said('new')] }, 0)).equals(1);
    expectThat(await store.load('b')).matches({ messages: [said('new')], revision: 1 });
  },
  'each load and each successful save restarts the lifetime': async (subject) => {
    const store = await savedSessions(subject, ['a', 'b']);
    await store.save('c', { keep: 0, append: [said('c')] }, 0);

    await subject.pass(subject.ttlMs * 0.6);
    await store.load('a');
    await store.save('b', { keep: 1, append: [said('2')] }, 1);
    await store.save('c', { keep: 1, append: [said('2')] }, 7);
    await subject.pass(subject.ttlMs * 0.6);

    expectThat(await store.load('a')).matches({ messages: [said('a')], revision: 1 });
    expectThat(await store.load('b')).matches({ messages: [said('b'), said('2')], revision: 2 });
    expectThat(await store.load('c')).equals(undefined);
  },
};
