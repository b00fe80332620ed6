import type { Message } from '../../../model/message.js';
import type { Entry } from '../../../state/record/entry.js';
import { type CaseTable, ODD_STRINGS } from '../contract-case.js';
import { expectThat } from '../expect-that.js';
import { added, claimed, entryOf, type SessionSubject } from './subject.js';

function entriesOf(messages: readonly Message[]): Entry[] {
  return messages.map((message, at) => ({ id: `${at}`, at: 1, body: { type: 'message', message } }));
}

export const contentCases: CaseTable<SessionSubject> = {
  'ids may be any strings': async ({ store }) => {
    const ids = [...ODD_STRINGS, ''];
    for (const [at, id] of ids.entries()) await added(store, id, { entries: [entryOf(`${at}`)] });

    for (const [at, id] of ids.entries()) expectThat((await store.load(id))?.entries).equals([entryOf(`${at}`)]);
  },
  'tool calls and tool results are loaded unchanged': async ({ store }) => {
    const messages: Message[] = [
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'hm', providerMetadata: { p: { signature: 's' } } },
          { type: 'tool-call', id: 'c', name: 't', input: { deep: [1, null, { x: true }] } },
        ],
      },
      {
        role: 'tool',
        content: [{ type: 'tool-result', id: 'c', name: 't', content: 'x', structured: [1], isError: true }],
      },
      // Fields that a newer version may add.
      Object.assign({ role: 'user' as const, content: 'more' }, { packed: 1, bytes: [[0]] }),
    ];

    await added(store, 'a', { entries: entriesOf(messages) });

    expectThat((await store.load('a'))?.entries).equals(entriesOf(messages));
  },
  'images and files that are bytes are loaded as bytes': async ({ store }) => {
    const bytes = new Uint8Array([0, 1, 254, 255]);
    const messages: Message[] = [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image', image: bytes, mediaType: 'image/png' },
          { type: 'image', image: 'AAH+/w==', mediaType: 'image/png' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'file', data: bytes, mediaType: 'application/pdf' },
          { type: 'tool-call', id: 'c', name: 't', input: {} },
        ],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            id: 'c',
            name: 't',
            content: [
              { type: 'image', image: bytes },
              { type: 'text', text: '' },
            ],
          },
        ],
      },
    ];

    await added(store, 'a', { entries: entriesOf(messages) });

    expectThat((await store.load('a'))?.entries).equals(entriesOf(messages));
  },
  'an entry keeps every member, also of a type that is not known': async ({ store }) => {
    const body = { type: 'later', list: [1, { x: null }] };
    const entries = [
      { ...entryOf('1'), parent: 'p', agent: 'a', by: 'ada', path: ['c1', 'c2'] },
      { id: '2', at: 2, body } as unknown as Entry,
      { id: '3', at: 3, body: { type: 'decision', call: 'c', decision: { deny: 'no' } } } as Entry,
    ];

    await added(store, 'a', { entries });

    expectThat((await store.load('a'))?.entries).equals(entries);
  },
  'entries of runs inside of calls keep their path and place, also if added again': async ({ store }) => {
    const nested = (id: string, path: readonly string[], body: Entry['body'] = entryOf(id).body): Entry => {
      return { id, parent: '0', at: 1, run: `u:0:${path.join(':')}/1`, agent: 'inner', path, body };
    };
    const entries = [
      entryOf('0'),
      nested('1', ['c1']),
      nested('2', ['c1', 'c2', 'c3']),
      nested('3', ['ü 🎉', '\0', '']),
      nested('4', ['c1'], { type: 'suspended', calls: [{ id: 'c2', reason: 'why', by: 'approval' }] }),
      nested('5', ['c1'], { type: 'decision', call: 'c2', decision: 'again' }),
      entryOf('6'),
    ];
    await claimed(store, 'a');

    await store.append('a', { token: 'x', length: 0, entries });
    await store.append('a', { token: 'x', length: 0, entries: entries.slice(1, 3) });

    const { uid = '', entries: loaded } = (await store.load('a')) ?? {};
    expectThat(loaded).equals(entries);
    expectThat((await store.load('a', { known: { uid, length: 2 } }))?.entries).equals(entries.slice(2));
  },
  'two hundred entries, added one at a time, are loaded in order': async ({ store }) => {
    await store.claim('a', { token: 'x', run: 'x', ttlMs: 60_000 });
    for (let at = 0; at < 200; at += 1)
      await store.append('a', { token: 'x', length: at, entries: [entryOf(`${at}`)] });

    const { entries, length } = (await store.load('a')) ?? {};
    expectThat(length).equals(200);
    expectThat(entries).equals(Array.from({ length: 200 }, (_, index) => entryOf(`${index}`)));
  },
};
