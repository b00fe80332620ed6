import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { KeelsonError } from '../../../src/errors.js';
import type { Awaitable } from '../../../src/internal/promise.js';
import type { Message } from '../../../src/model/message.js';
import type { SessionStore } from '../../../src/state/session-store.js';
import { testSessionClaims } from './session-claim-contract.js';
import { testSessionLists } from './session-list-contract.js';
import { testConditionalLoads } from './session-load-contract.js';

const said = (text: string): Message => ({ role: 'user', content: text });

/** The lifetime of sessions in the tested store, and a function that lets time pass. */
export interface SessionTime {
  readonly ttlMs: number;
  pass(ms: number): Awaitable<void>;
}

/** Defines the tests that every session store must pass. `open` returns a new empty store for each test. */
export function testSessionStore(name: string, open: () => Awaitable<SessionStore>, time?: SessionTime): void {
  describe(`${name} fulfils the contract of a session store:`, () => {
    test('load returns undefined for an unknown session', async () => {
      expect(await (await open()).load('a')).toBe(undefined);
    });

    test('each save returns the next revision, and load returns kept and appended messages', async () => {
      const store = await open();

      const revisions = [
        await store.save('a', { keep: 0, append: [said('1'), said('2')] }, 0),
        await store.save('a', { keep: 2, append: [said('3')] }, 1),
        await store.save('a', { keep: 1, append: [said('4')] }, 2),
        await store.save('a', { keep: 2, append: [] }, 3),
      ];

      expect(revisions).toEqual([1, 2, 3, 4]);
      expect(await store.load('a')).toMatchObject({ messages: [said('1'), said('4')], revision: 4 });
    });

    test.each([-1, 1.5, 3, Number.NaN])(
      'a save with `keep: %d` fails for a session of two messages, and changes nothing',
      async (keep) => {
        const store = await open();
        await store.save('a', { keep: 0, append: [said('1'), said('2')] }, 0);
        const save = async (id: string, expected: number) => store.save(id, { keep, append: [said('x')] }, expected);

        await expect(save('a', 1)).rejects.toBeInstanceOf(KeelsonError);
        await expect(save('b', 0)).rejects.toBeInstanceOf(KeelsonError);

        expect(await store.load('a')).toMatchObject({ messages: [said('1'), said('2')], revision: 1 });
        expect(await store.load('b')).toBe(undefined);
      },
    );

    test('a save with another revision returns undefined, and changes nothing', async () => {
      const store = await open();
      await store.save('a', { keep: 0, append: [said('1')] }, 0);

      for (const expected of [0, 2, -1]) {
        expect(await store.save('a', { keep: 0, append: [said('x')] }, expected)).toBe(undefined);
      }
      expect(await store.save('b', { keep: 0, append: [said('x')] }, 1)).toBe(undefined);

      expect(await store.load('a')).toMatchObject({ messages: [said('1')], revision: 1 });
      expect(await store.load('b')).toBe(undefined);
    });

    test('only one of many concurrent saves succeeds', async () => {
      const store = await open();

      const revisions = await Promise.all(
        Array.from({ length: 20 }, (_, index) => store.save('a', { keep: 0, append: [said(`${index}`)] }, 0)),
      );

      expect(revisions.filter((revision) => revision !== undefined)).toEqual([1]);
      const winner = revisions.indexOf(1);
      expect(await store.load('a')).toMatchObject({ messages: [said(`${winner}`)], revision: 1 });
    });

    test('sessions do not affect each other', async () => {
      const store = await open();
      await store.save('a', { keep: 0, append: [said('a')] }, 0);
      await store.save('b', { keep: 0, append: [said('b')] }, 0);

      await store.delete('a');
      await store.delete('never there');

      expect(await store.load('a')).toBe(undefined);
      expect(await store.load('b')).toMatchObject({ messages: [said('b')], revision: 1 });
    });

    test('a deleted session starts empty', async () => {
      const store = await open();
      await store.save('a', { keep: 0, append: [said('old')] }, 0);
      await store.delete('a');

      expect(await store.save('a', { keep: 0, append: [said('new')] }, 0)).toBe(1);
      expect(await store.load('a')).toMatchObject({ messages: [said('new')], revision: 1 });
    });

    test('the store shares no arrays with its callers', async () => {
      const store = await open();
      const saved = [said('1')];
      await store.save('a', { keep: 0, append: saved }, 0);
      const loaded = await store.load('a');
      saved.push(said('mine'));

      await store.save('a', { keep: 0, append: [said('2')] }, 1);

      expect(loaded).toMatchObject({ messages: [said('1')], revision: 1 });
      expect(await store.load('a')).toMatchObject({ messages: [said('2')], revision: 2 });
    });

    test('ids may be any strings', async () => {
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

    test('tool calls and tool results are loaded unchanged', async () => {
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

      expect((await store.load('a'))?.messages).toEqual(messages);
    });

    test('images and files that are bytes are loaded as bytes', async () => {
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

    test('a thousand messages, saved one at a time, are loaded in order', async () => {
      const store = await open();
      for (let count = 0; count < 1000; count += 1)
        await store.save('a', { keep: count, append: [said(`${count}`)] }, count);

      const { messages, revision } = (await store.load('a')) ?? {};
      expect(revision).toBe(1000);
      expect(messages).toEqual(Array.from({ length: 1000 }, (_, index) => said(`${index}`)));
    }, 30_000);
  });
  testConditionalLoads(name, open);
  const tested = { name, open, pass: time?.pass ?? ((ms: number) => sleep(ms)) };
  testSessionClaims(tested);
  testSessionLists(tested);
  if (time !== undefined) testSessionTime(name, open, time);
}

/** Defines the tests of expiry that a session store with `ttlMs` must pass. */
function testSessionTime(name: string, open: () => Awaitable<SessionStore>, { ttlMs, pass }: SessionTime): void {
  describe(`${name} removes unused sessions:`, () => {
    const saved = async () => {
      const store = await open();
      for (const id of ['a', 'b']) await store.save(id, { keep: 0, append: [said('1')] }, 0);
      return store;
    };

    test('a session expires if it is neither loaded nor saved within its lifetime', async () => {
      const store = await saved();

      await pass(ttlMs * 1.2);

      expect(await store.load('a')).toBe(undefined);
      expect(await store.save('b', { keep: 1, append: [said('2')] }, 1)).toBe(undefined);
      expect(await store.save('b', { keep: 0, append: [said('new')] }, 0)).toBe(1);
      expect(await store.load('b')).toMatchObject({ messages: [said('new')], revision: 1 });
    });

    test('each load and each successful save restarts the lifetime', async () => {
      const store = await saved();
      await store.save('c', { keep: 0, append: [said('1')] }, 0);

      await pass(ttlMs * 0.6);
      await store.load('a');
      await store.save('b', { keep: 1, append: [said('2')] }, 1);
      await store.save('c', { keep: 1, append: [said('2')] }, 7);
      await pass(ttlMs * 0.6);

      expect(await store.load('a')).toMatchObject({ messages: [said('1')], revision: 1 });
      expect(await store.load('b')).toMatchObject({ messages: [said('1'), said('2')], revision: 2 });
      expect(await store.load('c')).toBe(undefined);
    });
  });
}
