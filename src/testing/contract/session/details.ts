import type { CaseTable } from '../contract-case.js';
import { expectFailure, expectThat } from '../expect-that.js';
import { type SessionSubject, savedSessions } from './subject.js';

export const detailCases: CaseTable<SessionSubject> = {
  'update sets the title or the data, and keeps the rest and the revision': async (subject) => {
    const store = await savedSessions(subject, ['a']);

    expectThat(await store.update('a', { title: 'One' })).matches({ owner: 'ada', title: 'One', revision: 1 });
    expectThat(await store.update('a', { data: { n: 1 } })).matches({ title: 'One', data: { n: 1 } });
    expectThat(await store.update('a', { title: '', data: {} })).matches({ owner: 'ada', title: '', data: {} });
    expectThat(await store.update('a', {})).matches({ id: 'a', title: '', data: {}, revision: 1, length: 1 });
    expectThat(await store.update('never there', { title: 'x' })).equals(undefined);
    expectThat(await store.load('never there')).equals(undefined);
  },
  'details share no data with its callers': async ({ open }) => {
    const store = await open();
    const data = { list: [1] };
    await store.save('a', { keep: 0, append: [], details: { data } }, 0);
    data.list.push(2);
    const before = await store.update('a', {});
    Object.assign(before?.data ?? {}, { list: [3] });

    expectThat((await store.update('a', {}))?.data).equals({ list: [1] });
  },
  'save and update refuse details that are not valid': async (subject) => {
    const store = await savedSessions(subject, ['a']);
    const refused = { code: 'ERR_OPTION_INVALID' };
    const loop: Record<string, unknown> = {};
    loop.loop = loop;
    const create = async (details: object) => store.save('b', { keep: 0, append: [], details }, 0);

    await expectFailure(() => create({ title: 1 }), { ...refused, option: 'title' });
    await expectFailure(() => create({ data: loop }), { ...refused, option: 'data' });
    await expectFailure(() => store.update('a', { data: 'x' as never }), refused);
    expectThat(await store.load('b')).equals(undefined);
  },
};
