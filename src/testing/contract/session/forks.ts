import type { CaseTable } from '../contract-case.js';
import { expectFailure, expectThat } from '../expect-that.js';
import { type SessionSubject, said, savedSessions } from './subject.js';

export const forkCases: CaseTable<SessionSubject> = {
  'fork copies the first messages and the details to a new id': async ({ open }) => {
    const store = await open();
    const details = { owner: 'ada', title: 'Ships' };
    await store.save('a', { keep: 0, append: [said('1'), said('2'), said('3')], details }, 0);

    const forked = await store.fork('a', { id: 'b', keep: 2, details: { title: 'Boats' } });
    await store.save('b', { keep: 2, append: [said('other')] }, 1);

    expectThat(forked).matches({ id: 'b', owner: 'ada', title: 'Boats', revision: 1, length: 2 });
    expectThat((await store.load('b'))?.messages).equals([said('1'), said('2'), said('other')]);
    expectThat((await store.load('a'))?.messages).equals([said('1'), said('2'), said('3')]);
    expectThat((await store.load('a'))?.uid).differsFrom((await store.load('b'))?.uid);
    expectThat((await store.list({ owner: 'ada' })).sessions).hasLength(2);
  },
  'fork copies all messages by default': async (subject) => {
    const store = await savedSessions(subject, ['a']);

    expectThat(await store.fork('a', { id: 'b' })).matches({ length: 1 });
  },
  'fork refuses an id that is in use and a `keep` that is not valid, and changes nothing': async (subject) => {
    const store = await savedSessions(subject, ['a', 'b']);
    const fork = async (id: string, keep?: number) => store.fork('a', { id, keep });

    await expectFailure(() => fork('b'), { code: 'ERR_SESSION_EXISTS', session: 'b' });
    await expectFailure(() => fork('a'), { code: 'ERR_SESSION_EXISTS' });
    for (const keep of [-1, 1.5, 2]) await expectFailure(() => fork('c', keep), { option: 'keep' });

    expectThat(await store.load('c')).equals(undefined);
    expectThat((await store.load('b'))?.messages).equals([said('b')]);
  },
  'fork returns undefined for an unknown session': async ({ open }) => {
    const store = await open();

    expectThat(await store.fork('a', { id: 'b' })).equals(undefined);
  },
};
