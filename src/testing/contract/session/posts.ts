import type { CaseTable } from '../contract-case.js';
import { anyNumber, expectThat } from '../expect-that.js';
import { added, claimed, entryOf, posted, type SessionSubject, stopped } from './subject.js';

export const postCases: CaseTable<SessionSubject> = {
  'anybody may add a post, and learns which run has the session': async ({ store }) => {
    await added(store, 'a', { entries: [entryOf('1')] });

    expectThat(await store.post('a', posted('p'))).equals({ added: true });
    await claimed(store, 'a');
    expectThat(await store.post('a', posted('q'))).equals({ added: true, holder: { run: 'x', until: anyNumber } });

    expectThat(await store.load('a')).matches({ entries: [entryOf('1'), posted('p'), posted('q')] });
    expectThat(await store.post('never there', posted('p'))).equals(undefined);
  },
  'a post whose id is known adds nothing: of a post, or of a message': async ({ store }) => {
    await added(store, 'a', { entries: [entryOf('1')] });
    await store.post('a', posted('p'));

    expectThat(await store.post('a', posted('p'))).matches({ added: false });
    expectThat(await store.post('a', posted('1'))).matches({ added: false });

    expectThat(await store.load('a')).matches({ length: 2 });
  },
  'the holder of the claim gets the posts that it does not know': async ({ store }) => {
    await claimed(store, 'a');
    await store.append('a', { token: 'x', length: 0, entries: [entryOf('1')] });
    await store.post('a', posted('p'));

    const answer = await store.append('a', { token: 'x', length: 1, entries: [entryOf('2')] });

    expectThat(answer).matches({ length: 3, entries: [posted('p')] });
    expectThat(await store.load('a')).matches({ entries: [entryOf('1'), posted('p'), entryOf('2')] });
  },
  'a stop waits for the run that has the session, and one of another run is dropped': async ({ store }) => {
    await claimed(store, 'a');

    await store.post('a', stopped('s', 'x'));
    await store.post('a', stopped('t', 'other'));

    const { entries = [] } = (await store.load('a')) ?? {};
    expectThat(entries.map(({ body }) => body.type)).equals(['post', 'post', 'dropped']);
    expectThat(entries[2]?.body).matches({ type: 'dropped', post: 't' });
  },
  'without a run that has the session, a stop of the run whose calls wait is kept': async ({ store }) => {
    await claimed(store, 'a');
    await store.append('a', { token: 'x', length: 0, entries: [entryOf('1')], waits: 'x', release: true });

    await store.post('a', stopped('s', 'x'));
    await claimed(store, 'a', { run: 'y' });
    await store.append('a', { token: 'y', length: 2, entries: [entryOf('2')], waits: null, release: true });
    await store.post('a', stopped('t', 'x'));

    const { entries = [] } = (await store.load('a')) ?? {};
    expectThat(entries.map(({ id }) => id).slice(0, 4)).equals(['1', 's', '2', 't']);
    expectThat(entries.slice(4).map(({ body }) => body)).matches([{ type: 'dropped', post: 't' }]);
  },
};
