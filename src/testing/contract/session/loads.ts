import type { Message } from '../../../model/message.js';
import type { KnownSession } from '../../../state/session-store.js';
import type { CaseTable } from '../contract-case.js';
import { expectThat } from '../expect-that.js';
import { type SessionSubject, said } from './subject.js';

/** Saves three revisions, and returns the session as of each revision. */
async function saved({ open }: SessionSubject) {
  const store = await open();
  const known: KnownSession[] = [];
  for (const [expected, change] of [
    { keep: 0, append: [said('1'), said('2')] },
    { keep: 2, append: [said('3')] },
    { keep: 1, append: [said('4'), said('5')] },
  ].entries()) {
    await store.save('a', change, expected);
    const { uid = '', revision = 0 } = (await store.load('a')) ?? {};
    known.push({ uid, revision });
  }
  return { store, known };
}

export const loadCases: CaseTable<SessionSubject> = {
  'a load with the stored revision returns no messages': async (subject) => {
    const { store, known } = await saved(subject);

    expectThat(await store.load('a', known[2])).equals({ ...known[2], keep: 3, messages: [] });
  },
  'a load with an older revision returns the later messages': async (subject) => {
    const { store, known } = await saved(subject);

    for (const older of [known[0], known[1]]) {
      expectThat(await store.load('a', older)).equals({ ...known[2], keep: 1, messages: [said('4'), said('5')] });
    }
  },
  'the uid stays when the session is saved again': async (subject) => {
    const { known } = await saved(subject);

    expectThat(new Set(known.map(({ uid }) => uid)).size).equals(1);
  },
  'a load with the uid of a deleted session returns all messages': async (subject) => {
    const { store, known } = await saved(subject);
    await store.delete('a');
    for (const expected of [0, 1, 2]) await store.save('a', { keep: expected, append: [said('new')] }, expected);

    const loaded = await store.load('a', known[2]);

    expectThat(loaded).matches({ keep: 0, revision: 3, messages: [said('new'), said('new'), said('new')] });
    expectThat(loaded?.uid).differsFrom(known[2]?.uid);
  },
  'a load with a revision that is not stored returns all messages': async (subject) => {
    const { store, known } = await saved(subject);

    const loaded = await store.load('a', { uid: known[0]?.uid ?? '', revision: 9 });

    expectThat(loaded).matches({ keep: 0, messages: [said('1'), said('4'), said('5')] });
  },
  'the save that creates a session stores its uid, and a later save with another uid is refused': async ({ open }) => {
    const store = await open();
    await store.save('a', { keep: 0, append: [said('1')], uid: 'mine' }, 0);

    expectThat((await store.load('a'))?.uid).equals('mine');
    expectThat(await store.save('a', { keep: 1, append: [said('x')], uid: 'theirs' }, 1)).equals(undefined);
    expectThat(await store.save('a', { keep: 1, append: [said('2')], uid: 'mine' }, 1)).equals(2);
  },
  'the loaded parts produce the stored messages after any changes': async ({ open }) => {
    const store = await open();
    let mine: Message[] = [];
    let known: KnownSession | undefined;
    for (let revision = 0; revision < 40; revision += 1) {
      const all = (await store.load('a'))?.messages ?? [];
      const keep = all.length - ((revision * 7) % 5) * Number(all.length > 4);
      await store.save('a', { keep, append: [said(`${revision}`), said('x')].slice(0, revision % 3) }, revision);
      if (revision % 4 !== 0) continue;
      const later = await store.load('a', known);
      mine = [...mine.slice(0, later?.keep), ...(later?.messages ?? [])];
      known = later;

      expectThat(mine).equals((await store.load('a'))?.messages);
    }
  },
};
