import type { CaseTable } from '../contract-case.js';
import { anyCode, expectFailure, expectThat } from '../expect-that.js';
import { type SessionSubject, said } from './subject.js';

export const saveCases: CaseTable<SessionSubject> = {
  'load returns undefined for an unknown session': async ({ open }) => {
    expectThat(await (await open()).load('a')).equals(undefined);
  },
  'each save returns the next revision, and load returns kept and appended messages': async ({ open }) => {
    const store = await open();

    const revisions = [
      await store.save('a', { keep: 0, append: [said('1'), said('2')] }, 0),
      await store.save('a', { keep: 2, append: [said('3')] }, 1),
      await store.save('a', { keep: 1, append: [said('4')] }, 2),
      await store.save('a', { keep: 2, append: [] }, 3),
    ];

    expectThat(revisions).equals([1, 2, 3, 4]);
    expectThat(await store.load('a')).matches({ messages: [said('1'), said('4')], revision: 4 });
  },
  'a save with an invalid `keep` fails, and changes nothing': async ({ open }) => {
    const store = await open();
    await store.save('a', { keep: 0, append: [said('1'), said('2')] }, 0);

    for (const keep of [-1, 1.5, 3, Number.NaN]) {
      const change = { keep, append: [said('x')] };
      await expectFailure(() => store.save('a', change, 1), { code: anyCode });
      await expectFailure(() => store.save('b', change, 0), { code: anyCode });
    }

    expectThat(await store.load('a')).matches({ messages: [said('1'), said('2')], revision: 1 });
    expectThat(await store.load('b')).equals(undefined);
  },
  'a save with another revision returns undefined, and changes nothing': async ({ open }) => {
    const store = await open();
    await store.save('a', { keep: 0, append: [said('1')] }, 0);

    for (const expected of [0, 2, -1]) {
      expectThat(await store.save('a', { keep: 0, append: [said('x')] }, expected)).equals(undefined);
    }
    expectThat(await store.save('b', { keep: 0, append: [said('x')] }, 1)).equals(undefined);

    expectThat(await store.load('a')).matches({ messages: [said('1')], revision: 1 });
    expectThat(await store.load('b')).equals(undefined);
  },
  'only one of many concurrent saves succeeds': async ({ open }) => {
    const store = await open();

    const revisions = await Promise.all(
      Array.from({ length: 20 }, (_, index) => store.save('a', { keep: 0, append: [said(`${index}`)] }, 0)),
    );

    expectThat(revisions.filter((revision) => revision !== undefined)).equals([1]);
    const winner = revisions.indexOf(1);
    expectThat(await store.load('a')).matches({ messages: [said(`${winner}`)], revision: 1 });
  },
  'sessions do not affect each other': async ({ open }) => {
    const store = await open();
    await store.save('a', { keep: 0, append: [said('a')] }, 0);
    await store.save('b', { keep: 0, append: [said('b')] }, 0);

    await store.delete('a');
    await store.delete('never there');

    expectThat(await store.load('a')).equals(undefined);
    expectThat(await store.load('b')).matches({ messages: [said('b')], revision: 1 });
  },
  'a deleted session starts empty': async ({ open }) => {
    const store = await open();
    await store.save('a', { keep: 0, append: [said('old')] }, 0);
    await store.delete('a');

    expectThat(await store.save('a', { keep: 0, append: [said('new')] }, 0)).equals(1);
    expectThat(await store.load('a')).matches({ messages: [said('new')], revision: 1 });
  },
  'the store shares no arrays with its callers': async ({ open }) => {
    const store = await open();
    const saved = [said('1')];
    await store.save('a', { keep: 0, append: saved }, 0);
    const loaded = await store.load('a');
    saved.push(said('mine'));

    await store.save('a', { keep: 0, append: [said('2')] }, 1);

    expectThat(loaded).matches({ messages: [said('1')], revision: 1 });
    expectThat(await store.load('a')).matches({ messages: [said('2')], revision: 2 });
  },
};
