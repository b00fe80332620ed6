import type { Message } from 'keelson';
import type { ExtensionInput } from 'keelson/extension';
import { describe, expect, test } from 'vitest';
import { lab } from '../../support/extension/lab.js';
import { timesAsLong } from '../../support/growth.js';

const say = (content: string): Message => ({ role: 'user', content });
const picture = (bytes: number): Message => ({
  role: 'user',
  content: [{ type: 'image', image: new Uint8Array(bytes).fill(1), mediaType: 'image/png' }],
});
const bytesOf = ([first]: readonly Message[]) =>
  ((first as Message).content as unknown as [{ image: Uint8Array }])[0].image;
/** Runs with one extension, and returns the messages of the model request. */
async function requestOf(extension: ExtensionInput, messages: readonly Message[]) {
  const { agent, model, logger } = lab([extension]);
  const { decisions } = await agent.run('go', { messages });
  const errors = logger.records.filter(({ level }) => level === 'error').map(({ message }) => message);
  return { sent: model.requests[0]?.messages.slice(0, -1), errors, decisions };
}

test('messages are deeply frozen, and a write throws in strict code', async () => {
  let first: unknown;
  const { errors, sent } = await requestOf(
    {
      id: 'x',
      onInputMessages(messages) {
        first = messages[0];
        (messages[0] as { content: string }).content = 'changed';
        return messages;
      },
    },
    [say('a')],
  );

  expect(Object.isFrozen(first)).toBe(true);
  expect(errors).toEqual([expect.stringContaining('Extension "x": onInputMessages failed')]);
  expect(sent).toEqual([say('a')]);
});

test('two extensions and two runs receive the same copy of a message', async () => {
  const seen: unknown[] = [];
  const watch = (id: string): ExtensionInput => ({ id, onInputMessages: ([first]) => void seen.push(first) });
  const { agent } = lab([watch('a'), watch('b')]);
  const messages = [say('kept')];
  await agent.run('one', { messages });
  await agent.run('two', { messages });

  expect(seen).toHaveLength(4);
  expect(new Set(seen).size).toBe(1);
});

test('a message that the host changes between two runs has a new copy', async () => {
  const seen: unknown[] = [];
  const { agent } = lab([{ id: 'x', onInputMessages: ([first]) => void seen.push((first as Message).content) }]);
  const parts = [{ type: 'text' as const, text: 'before' }];
  const messages = [{ role: 'user' as const, content: parts }];
  await agent.run('one', { messages });
  parts[0] = { type: 'text', text: 'after' };
  await agent.run('two', { messages });

  expect(seen).toEqual([[{ type: 'text', text: 'before' }], [{ type: 'text', text: 'after' }]]);
});

describe('unchanged messages keep their identity', () => {
  const given = [say('one'), say('two'), say('three'), picture(4)];

  test.each<[string, (messages: readonly Message[]) => readonly Message[]]>([
    ['returned as they are', (messages) => messages],
    ['in a new array', (messages) => [...messages]],
    ['as shallow copies', (messages) => messages.map((message) => ({ ...message }))],
    ['as deep copies', (messages) => structuredClone(messages) as Message[]],
  ])('%s', async (_title, onInputMessages) => {
    const { decisions, errors } = await requestOf({ id: 'x', onInputMessages }, given);

    expect({ decisions, errors }).toEqual({ decisions: [], errors: [] });
  });

  test.each<[string, (messages: readonly Message[]) => readonly Message[], number]>([
    ['after a removed message', (messages) => structuredClone(messages.slice(1)) as Message[], 2],
    ['after an added message', (messages) => [say('new'), ...(structuredClone(messages) as Message[])], 3],
    ['around a changed message', (messages) => messages.map((it, at) => (at === 1 ? say('x') : { ...it })), 2],
  ])('%s', async (_title, onInputMessages, kept) => {
    const messages = [say('one'), say('two'), say('three')];
    const { agent } = lab([{ id: 'x', onInputMessages }]);
    const { history } = await agent.run('go', { messages });

    expect(history.filter((message) => messages.includes(message))).toHaveLength(kept);
  });
});

describe('bytes', () => {
  test('ten extensions take little longer for a picture than ten loops over its bytes', async () => {
    const pass = (id: number): ExtensionInput => ({
      id: `x${id}`,
      onInputMessages: (messages) => messages.map((it) => ({ ...it })),
    });
    const { agent } = lab(Array.from({ length: 10 }, (_, id) => pass(id)));
    const large = picture(500_000);
    const loop = () => {
      let sum = 0;
      for (let times = 0; times < 10; times += 1) for (const byte of bytesOf([large])) sum += byte;
      expect(sum).toBe(5_000_000);
    };
    const run = async () => expect((await agent.run('go', { messages: [large] })).decisions).toEqual([]);

    expect(await timesAsLong(loop, run)).toBeLessThan(10);
  });

  test('a write to the bytes of a picture has no effect, and new bytes have', async () => {
    const original = picture(4);
    const write: ExtensionInput = {
      id: 'x',
      onInputMessages(messages) {
        bytesOf(messages).fill(9);
        return messages;
      },
    };
    const replace: ExtensionInput = { id: 'x', onInputMessages: () => [picture(2), { role: 'user', content: 'go' }] };

    const written = await requestOf(write, [original]);
    const replaced = await requestOf(replace, [original]);

    expect([written.sent, written.decisions, original]).toEqual([[picture(4)], [], picture(4)]);
    expect(replaced.sent).toEqual([picture(2)]);
  });
});

test('a write in sloppy code is ignored', async () => {
  const onInputMessages = new Function('m', "m[0].content = 'x'; return m;") as never;
  const { errors, sent } = await requestOf({ id: 'sloppy', onInputMessages }, [say('a')]);

  expect({ errors, sent }).toEqual({ errors: [], sent: [say('a')] });
});
