import type { CaseTable } from '../contract-case.js';
import { expectThat } from '../expect-that.js';
import { claimed, entryOf, LONG_MS, posted, released, type SessionSubject } from './subject.js';

export const appendCases: CaseTable<SessionSubject> = {
  'load returns undefined for an unknown session': async ({ store }) => {
    expectThat(await store.load('a')).equals(undefined);
  },
  'the holder of the claim adds entries, and load returns all of them in order': async ({ store }) => {
    await claimed(store, 'a');

    const first = await store.append('a', { token: 'x', length: 0, entries: [entryOf('1'), entryOf('2')] });
    const second = await store.append('a', { token: 'x', length: 2, entries: [entryOf('3')] });

    expectThat(first).equals({ owned: true, stored: true, released: false, length: 2, entries: [] });
    expectThat(second).equals({ owned: true, stored: true, released: false, length: 3, entries: [] });
    const entries = [entryOf('1'), entryOf('2'), entryOf('3')];
    expectThat(await store.load('a')).matches({ length: 3, offset: 0, entries });
  },
  'an append without the claim adds nothing, in a session that is stored or not': async ({ store }) => {
    await claimed(store, 'a');

    for (const id of ['a', 'b']) {
      const answer = await store.append(id, { token: 'y', length: 0, entries: [entryOf('1')], release: true });
      expectThat(answer).equals({ owned: false, stored: false, released: false, length: 0, entries: [] });
    }

    expectThat(await store.load('a')).matches({ length: 0 });
    expectThat(await store.load('b')).equals(undefined);
  },
  'an append that is sent twice adds its entries once': async ({ store }) => {
    await claimed(store, 'a');
    const append = { token: 'x', length: 0, entries: [entryOf('1'), entryOf('2')] };
    await store.append('a', append);

    expectThat(await store.append('a', append)).matches({ owned: true, stored: true, length: 2, entries: [] });
    const more = await store.append('a', { ...append, entries: [...append.entries, entryOf('3')] });

    expectThat(more).matches({ owned: true, stored: true, length: 3, entries: [] });
    expectThat(await store.load('a')).matches({ entries: [entryOf('1'), entryOf('2'), entryOf('3')] });
  },
  'the last append ends the claim, and is answered as stored when it is sent again': async ({ store }) => {
    await claimed(store, 'a');
    const last = { token: 'x', length: 0, entries: [entryOf('1')], release: true };

    expectThat(await store.append('a', last)).matches({ owned: true, stored: true, released: true });
    expectThat(await store.append('a', last)).matches({ owned: false, stored: true, length: 1 });
    expectThat(await claimed(store, 'a', { run: 'y' })).matches({ claimed: true, length: 1 });
    expectThat(await store.append('a', last)).matches({ owned: false, stored: true });
    expectThat(await store.renew('a', { token: 'y', ttlMs: LONG_MS })).equals(true);
  },
  'the claim does not end while the session has entries that its holder does not know': async ({ store }) => {
    await claimed(store, 'a');
    await store.post('a', posted('p'));

    const last = await store.append('a', { token: 'x', length: 0, entries: [entryOf('1')], release: true });
    expectThat(last).equals({ owned: true, stored: true, released: false, length: 2, entries: [posted('p')] });
    expectThat(await released(store, 'a', { length: 1 })).matches({ owned: true, released: false });

    expectThat(await released(store, 'a', { length: 2 })).matches({ owned: true, released: true });
    expectThat(await store.load('a')).matches({ entries: [posted('p'), entryOf('1')] });
  },
  'entries of a deleted session are gone, and an append does not bring them back': async ({ store }) => {
    const before = await claimed(store, 'a');
    await store.append('a', { token: 'x', length: 0, entries: [entryOf('1')] });
    await store.delete('a');
    await store.delete('never there');

    expectThat(await store.append('a', { token: 'x', length: 1, entries: [entryOf('2')] })).matches({
      owned: false,
      stored: false,
    });
    expectThat(await store.load('a')).equals(undefined);
    const after = await claimed(store, 'a');
    expectThat(after).matches({ claimed: true, length: 0 });
    expectThat('uid' in after && after.uid).differsFrom('uid' in before && before.uid);
  },
  'concurrent appends of many sessions keep apart': async ({ store }) => {
    const ids = Array.from({ length: 20 }, (_, at) => `s${at}`);

    const work = ids.map(async (id) => {
      await claimed(store, id);
      for (let at = 0; at < 5; at += 1) {
        await store.append(id, { token: 'x', length: at, entries: [entryOf(`${id}-${at}`)] });
      }
    });
    await Promise.all(work);

    for (const id of ids) {
      const entries = Array.from({ length: 5 }, (_, at) => entryOf(`${id}-${at}`));
      expectThat(await store.load(id)).matches({ entries });
    }
  },
};
