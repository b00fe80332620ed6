import type { CaseTable } from '../contract-case.js';
import { expectFailure, expectThat } from '../expect-that.js';
import { added, entryOf, released, type SessionSubject, saveSessions } from './subject.js';

export const detailCases: CaseTable<SessionSubject> = {
  'update sets the title or the data, and keeps the rest': async ({ store }) => {
    await saveSessions(store, ['a']);

    expectThat(await store.update('a', { title: 'One' })).matches({ owner: 'ada', title: 'One', length: 1 });
    expectThat(await store.update('a', { data: { n: 1 } })).matches({ title: 'One', data: { n: 1 } });
    expectThat(await store.update('a', { title: '', data: {} })).matches({ owner: 'ada', title: '', data: {} });
    expectThat(await store.update('a', {})).matches({ id: 'a', title: '', data: {}, length: 1 });
    expectThat(await store.update('never there', { title: 'x' })).equals(undefined);
    expectThat(await store.load('never there')).equals(undefined);
  },
  'details share no data with its callers': async ({ store }) => {
    const data = { list: [1] };
    await added(store, 'a', { entries: [entryOf('1')], details: { data } });
    data.list.push(2);
    const before = await store.update('a', {});
    Object.assign(before?.data ?? {}, { list: [3] });

    expectThat((await store.update('a', {}))?.data).equals({ list: [1] });
  },
  'claim and update refuse details that are not valid': async ({ store }) => {
    await saveSessions(store, ['a']);
    const refused = { code: 'ERR_OPTION_INVALID' };
    const loop: Record<string, unknown> = {};
    loop.loop = loop;
    const create = async (details: object) => added(store, 'b', { entries: [entryOf('1')], details });

    await expectFailure(() => create({ title: 1 }), { ...refused, option: 'title' });
    await expectFailure(() => create({ data: loop }), { ...refused, option: 'data' });
    await expectFailure(() => store.update('a', { data: 'x' as never }), refused);
    expectThat(await store.load('b')).equals(undefined);
  },
  'a session gets its details from the claim before its first entry, and has no summary before': async ({ store }) => {
    const claim = { run: 'x', ttlMs: 60_000 };
    await store.claim('a', { ...claim, token: 'x', details: { title: 'first' } });
    expectThat(await store.update('a', { title: 'x' })).equals(undefined);
    await released(store, 'a');

    await added(store, 'a', { entries: [entryOf('1')], details: { title: 'second', owner: 'ada' } });
    await added(store, 'a', { entries: [entryOf('2')], details: { title: 'third' } });

    expectThat(await store.update('a', {})).matches({ title: 'second', owner: 'ada', length: 2 });
  },
};
