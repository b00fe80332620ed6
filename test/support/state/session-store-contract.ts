import { describe, expect, test } from 'vitest';
import { KeelsonError } from '../../../src/errors.js';
import type { Awaitable } from '../../../src/internal/promise.js';
import type { Message } from '../../../src/model/message.js';
import type { SessionStore } from '../../../src/state/session-store.js';

const said = (text: string): Message => ({ role: 'user', content: text });

/** How long the sessions of a store that `open` gives live, and how time passes for it. */
export interface SessionTime {
  readonly ttlMs: number;
  pass(ms: number): Awaitable<void>;
}

/** What every session store keeps to. `open` gives an empty store; each test asks for one of its own. */
export function testSessionStore(name: string, open: () => Awaitable<SessionStore>, time?: SessionTime): void {
  describe(`${name} keeps the contract of a session store:`, () => {
    test('what was never saved is not there', async () => {
      expect(await (await open()).load('a')).toBe(undefined);
    });

    test('each save returns the next revision, and load gives what is kept and what was appended', async () => {
      const store = await open();

      const revisions = [
        await store.save('a', { keep: 0, append: [said('1'), said('2')] }, 0),
        await store.save('a', { keep: 2, append: [said('3')] }, 1),
        await store.save('a', { keep: 1, append: [said('4')] }, 2),
        await store.save('a', { keep: 2, append: [] }, 3),
      ];

      expect(revisions).toEqual([1, 2, 3, 4]);
      expect(await store.load('a')).toEqual({ messages: [said('1'), said('4')], revision: 4 });
    });

    test.each([-1, 1.5, 3, Number.NaN])(
      'a save that would keep %d of two messages changes nothing, and fails',
      async (keep) => {
        const store = await open();
        await store.save('a', { keep: 0, append: [said('1'), said('2')] }, 0);
        const save = async (id: string, expected: number) => store.save(id, { keep, append: [said('x')] }, expected);

        await expect(save('a', 1)).rejects.toBeInstanceOf(KeelsonError);
        await expect(save('b', 0)).rejects.toBeInstanceOf(KeelsonError);

        expect(await store.load('a')).toEqual({ messages: [said('1'), said('2')], revision: 1 });
        expect(await store.load('b')).toBe(undefined);
      },
    );

    test('a save on another revision changes nothing, and returns undefined', async () => {
      const store = await open();
      await store.save('a', { keep: 0, append: [said('1')] }, 0);

      for (const expected of [0, 2, -1]) {
        expect(await store.save('a', { keep: 0, append: [said('x')] }, expected)).toBe(undefined);
      }
      expect(await store.save('b', { keep: 0, append: [said('x')] }, 1)).toBe(undefined);

      expect(await store.load('a')).toEqual({ messages: [said('1')], revision: 1 });
      expect(await store.load('b')).toBe(undefined);
    });

    test('of many writers at once exactly one wins', async () => {
      const store = await open();

      const revisions = await Promise.all(
        Array.from({ length: 20 }, (_, at) => store.save('a', { keep: 0, append: [said(`${at}`)] }, 0)),
      );

      expect(revisions.filter((revision) => revision !== undefined)).toEqual([1]);
      const winner = revisions.indexOf(1);
      expect(await store.load('a')).toEqual({ messages: [said(`${winner}`)], revision: 1 });
    });

    test('sessions do not touch one another', async () => {
      const store = await open();
      await store.save('a', { keep: 0, append: [said('a')] }, 0);
      await store.save('b', { keep: 0, append: [said('b')] }, 0);

      await store.delete('a');
      await store.delete('never there');

      expect(await store.load('a')).toBe(undefined);
      expect(await store.load('b')).toEqual({ messages: [said('b')], revision: 1 });
    });

    test('a session that was deleted begins anew', async () => {
      const store = await open();
      await store.save('a', { keep: 0, append: [said('old')] }, 0);
      await store.delete('a');

      expect(await store.save('a', { keep: 0, append: [said('new')] }, 0)).toBe(1);
      expect(await store.load('a')).toEqual({ messages: [said('new')], revision: 1 });
    });

    test('what was loaded, and what was given to save, does not change with the store', async () => {
      const store = await open();
      const given = [said('1')];
      await store.save('a', { keep: 0, append: given }, 0);
      const loaded = await store.load('a');
      given.push(said('mine'));

      await store.save('a', { keep: 0, append: [said('2')] }, 1);

      expect(loaded).toEqual({ messages: [said('1')], revision: 1 });
      expect(await store.load('a')).toEqual({ messages: [said('2')], revision: 2 });
    });

    test('ids may hold anything', async () => {
      const store = await open();
      const ids = [
        ...[
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
        ],
        ...['x'.repeat(300), `${'x'.repeat(299)}y`, 'a\0b', 'a\nb'],
      ];

      for (const id of ids) await store.save(id, { keep: 0, append: [said(id)] }, 0);

      for (const id of ids) expect((await store.load(id))?.messages).toEqual([said(id)]);
    });

    test('calls and results come back as they were', async () => {
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
        // What a newer version may have added.
        Object.assign(said('more'), { packed: 1, bytes: [[0]] }),
      ];

      await store.save('a', { keep: 0, append: messages }, 0);

      expect((await store.load('a'))?.messages).toEqual(messages);
    });

    test('pictures and files that are bytes come back as bytes', async () => {
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

      expect((await store.load('a'))?.messages).toEqual(messages);
    });

    test('a thousand saves of one message each come back in order', async () => {
      const store = await open();
      for (let at = 0; at < 1000; at += 1) await store.save('a', { keep: at, append: [said(`${at}`)] }, at);

      const { messages, revision } = (await store.load('a')) ?? {};
      expect(revision).toBe(1000);
      expect(messages).toEqual(Array.from({ length: 1000 }, (_, at) => said(`${at}`)));
    }, 30_000);
  });
  if (time !== undefined) testSessionTime(name, open, time);
}

/** What a session store that forgets keeps to. */
function testSessionTime(name: string, open: () => Awaitable<SessionStore>, { ttlMs, pass }: SessionTime): void {
  describe(`${name} forgets what nobody uses:`, () => {
    const saved = async () => {
      const store = await open();
      for (const id of ['a', 'b']) await store.save(id, { keep: 0, append: [said('1')] }, 0);
      return store;
    };

    test('a session that was neither loaded nor saved for its time begins anew', async () => {
      const store = await saved();

      await pass(ttlMs * 1.2);

      expect(await store.load('a')).toBe(undefined);
      expect(await store.save('b', { keep: 1, append: [said('2')] }, 1)).toBe(undefined);
      expect(await store.save('b', { keep: 0, append: [said('new')] }, 0)).toBe(1);
      expect(await store.load('b')).toEqual({ messages: [said('new')], revision: 1 });
    });

    test('each load and each save starts the time anew, a save that fails does not', async () => {
      const store = await saved();
      await store.save('c', { keep: 0, append: [said('1')] }, 0);

      await pass(ttlMs * 0.6);
      await store.load('a');
      await store.save('b', { keep: 1, append: [said('2')] }, 1);
      await store.save('c', { keep: 1, append: [said('2')] }, 7);
      await pass(ttlMs * 0.6);

      expect(await store.load('a')).toEqual({ messages: [said('1')], revision: 1 });
      expect(await store.load('b')).toEqual({ messages: [said('1'), said('2')], revision: 2 });
      expect(await store.load('c')).toBe(undefined);
    });
  });
}
