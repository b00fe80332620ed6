import type { Message } from '../../../model/message.js';
import type { CaseTable } from '../contract-case.js';
import { expectThat } from '../expect-that.js';
import { type SessionSubject, said } from './subject.js';

export const contentCases: CaseTable<SessionSubject> = {
  'ids may be any strings': async ({ open }) => {
    const store = await open();
    const ids = [
      '__proto__',
      'constructor',
      '../up',
      'a/b',
      'a:b',
      'ü 🎉',
      'A',
      'a',
      'con',
      '*',
      '[a]',
      '',
      '.',
      '\ud800',
      '\ud801',
      'x'.repeat(300),
      `${'x'.repeat(299)}y`,
      'a\0b',
      'a\nb',
    ];

    for (const [at, id] of ids.entries()) await store.save(id, { keep: 0, append: [said(`${at}`)] }, 0);

    for (const [at, id] of ids.entries()) expectThat((await store.load(id))?.messages).equals([said(`${at}`)]);
  },
  'tool calls and tool results are loaded unchanged': async ({ open }) => {
    const store = await open();
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
      Object.assign(said('more'), { packed: 1, bytes: [[0]] }),
    ];

    await store.save('a', { keep: 0, append: messages }, 0);

    expectThat((await store.load('a'))?.messages).equals(messages);
  },
  'images and files that are bytes are loaded as bytes': async ({ open }) => {
    const store = await open();
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

    await store.save('a', { keep: 0, append: messages }, 0);

    expectThat((await store.load('a'))?.messages).equals(messages);
  },
  'a thousand messages, saved one at a time, are loaded in order': async ({ open }) => {
    const store = await open();
    for (let count = 0; count < 1000; count += 1)
      await store.save('a', { keep: count, append: [said(`${count}`)] }, count);

    const { messages, revision } = (await store.load('a')) ?? {};
    expectThat(revision).equals(1000);
    expectThat(messages).equals(Array.from({ length: 1000 }, (_, index) => said(`${index}`)));
  },
};
