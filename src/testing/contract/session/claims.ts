import type { CaseTable } from '../contract-case.js';
import { anyNumber, expectThat } from '../expect-that.js';
import { added, claimed, entryOf, LONG_MS, released, type SessionSubject } from './subject.js';

export const claimCases: CaseTable<SessionSubject> = {
  'only one of many concurrent claims succeeds': async ({ store }) => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => claimed(store, 'a', { run: `${at}` })));

    expectThat(answers.filter((answer) => answer.claimed)).hasLength(1);
  },
  'a refused claim names the run that has the session, without its token': async ({ store }) => {
    await store.claim('a', { token: 'secret', run: 'first', by: 'ada', ttlMs: LONG_MS });

    const refused = await claimed(store, 'a', { run: 'y' });

    const holder = { run: 'first', by: 'ada', until: anyNumber };
    expectThat(refused).equals({ claimed: false, holder });
    expectThat((await store.load('a'))?.holder).equals(holder);
  },
  'a claim that is sent twice counts once': async ({ store }) => {
    expectThat(await claimed(store, 'a')).matches({ claimed: true });
    expectThat(await claimed(store, 'a')).matches({ claimed: true });
    expectThat(await claimed(store, 'a', { run: 'y' })).matches({ claimed: false });
  },
  'a claim returns the entries that the caller does not know': async ({ store }) => {
    await added(store, 'a', { entries: [entryOf('1'), entryOf('2'), entryOf('3')] });
    const { uid = '' } = (await store.load('a')) ?? {};
    const claim = { token: 'x', run: 'x', ttlMs: LONG_MS };

    const later = await store.claim('a', { ...claim, known: { uid, length: 2 } });
    expectThat(later).matches({ claimed: true, uid, length: 3, offset: 2, entries: [entryOf('3')] });
    for (const known of [undefined, { uid: 'other', length: 2 }, { uid, length: 9 }]) {
      const all = { offset: 0, entries: [entryOf('1'), entryOf('2'), entryOf('3')] };
      expectThat(await store.claim('a', { ...claim, known })).matches(all);
    }
  },
  'a claim without known entries returns those from the context on': async ({ store }) => {
    await claimed(store, 'a');
    const entries = [entryOf('1'), entryOf('2'), entryOf('3')];
    await store.append('a', { token: 'x', length: 0, entries, context: 2 });
    await store.append('a', { token: 'x', length: 3, entries: [entryOf('4')], release: true });

    const found = { length: 4, offset: 2, entries: [entryOf('3'), entryOf('4')] };
    expectThat(await claimed(store, 'a')).matches(found);
    expectThat(await store.load('a', { from: 'context' })).matches(found);
    expectThat(await store.load('a')).matches({ offset: 0, length: 4 });
  },
  'a claim that is not renewed in time can be taken over, and names the lost run': async ({ store, pass }) => {
    await claimed(store, 'a', { ttlMs: 1 });
    await pass(10);

    expectThat(await claimed(store, 'a', { run: 'y' })).matches({ claimed: true, lost: 'x' });

    expectThat(await store.renew('a', { token: 'x', ttlMs: LONG_MS })).equals(false);
    const refused = { owned: false, stored: false, released: false };
    expectThat(await store.append('a', { token: 'x', length: 0, entries: [entryOf('1')] })).matches(refused);
    expectThat(await released(store, 'a')).matches({ owned: false, released: false });
    expectThat(await store.renew('a', { token: 'y', ttlMs: LONG_MS })).equals(true);
  },
  'a claim that is late but not taken over can be renewed, and its holder can append': async ({ store, pass }) => {
    await claimed(store, 'a', { ttlMs: 1 });
    await pass(10);

    expectThat(await store.append('a', { token: 'x', length: 0, entries: [entryOf('1')] })).matches({ owned: true });
    expectThat(await store.renew('a', { token: 'x', ttlMs: LONG_MS })).equals(true);

    expectThat(await claimed(store, 'a', { run: 'y' })).matches({ claimed: false });
  },
  'a renewal says which question the run waits for': async ({ store }) => {
    await claimed(store, 'a');

    await store.renew('a', { token: 'x', ttlMs: LONG_MS, waitsFor: 'an approval' });
    expectThat(await claimed(store, 'a', { run: 'y' })).matches({ holder: { waitsFor: 'an approval' } });
    await store.renew('a', { token: 'x', ttlMs: LONG_MS });

    expectThat((await store.load('a'))?.holder).equals({ run: 'x', until: anyNumber });
  },
  'a released claim can be taken': async ({ store }) => {
    await claimed(store, 'a');

    expectThat(await released(store, 'a', { token: 'y' })).matches({ owned: false, released: false });
    expectThat(await released(store, 'a')).matches({ owned: true, released: true });

    expectThat((await store.load('a'))?.holder).equals(undefined);
    const next = await claimed(store, 'a', { run: 'y' });
    expectThat(next).matches({ claimed: true });
    expectThat('lost' in next).equals(false);
  },
  'renew and release of an unknown session do nothing': async ({ store }) => {
    expectThat(await store.renew('never there', { token: 'x', ttlMs: LONG_MS })).equals(false);
    expectThat(await released(store, 'never there')).matches({ owned: false });

    expectThat(await store.load('never there')).equals(undefined);
  },
};
