import { runInNewContext } from 'node:vm';
import { type Message, textOf } from 'keelson';
import { type ExtensionInput, shortCircuit } from 'keelson/extension';
import { calls, says } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { echo } from '../../support/agent/sample-tools.js';
import { lab, recordingSink } from '../../support/extension/lab.js';

const say = (content: string): Message => ({ role: 'user', content });
const append = (id: string, log: string[] = []): ExtensionInput => ({
  id,
  onInputMessages(messages) {
    log.push(id);
    return [...messages, say(id)];
  },
});

describe('onInputMessages', () => {
  test('S1-2.0, S1-2.1.2: adds, edits and removes messages of the model request', async () => {
    const before: Message[] = [say('one'), say('two'), say('three')];
    const extension: ExtensionInput = {
      id: 'x',
      onInputMessages: ([first, , third]) => [
        { ...first, content: 'ONE' } as Message,
        third as Message,
        say('four'),
        say('five'),
      ],
    };
    const { agent, model } = lab([extension]);
    const { history } = await agent.run('go', { messages: before });

    expect(model.requests[0]?.messages).toEqual([say('ONE'), say('three'), say('four'), say('five')]);
    expect(history.slice(0, 4)).toEqual([say('ONE'), say('three'), say('four'), say('five')]);
  });

  test('S1-2.1.1: receives the whole conversation once per run, before the first model call', async () => {
    const log: unknown[] = [];
    const { agent } = lab([{ id: 'x', onInputMessages: (messages) => void log.push(messages) }], {
      script: ({ messages }) => {
        log.push('model');
        return messages.length === 2 ? calls('echo', { text: 'a' }) : says('done');
      },
      agent: { tools: [echo], instructions: 'Not shown.' },
    });
    await agent.run('go');

    expect(log).toEqual([[say('go')], 'model', 'model']);
  });

  test('S1-2.1.3: keeps the message order through five extensions that return the array', async () => {
    const pass = (id: string): ExtensionInput => ({ id, onInputMessages: (messages) => messages });
    const messages = Array.from({ length: 20 }, (_, index) => say(String(index)));
    const { agent, model } = lab(['a', 'b', 'c', 'd', 'e'].map(pass));
    const { decisions } = await agent.run('go', { messages });

    expect(model.requests[0]?.messages).toEqual([...messages, say('go')]);
    expect(decisions).toEqual([]);
  });

  test('S1-2.2.1, S1-2.2.2: runs in the order of registration, each with the result of the callback before it', async () => {
    const log: string[] = [];
    const { agent, model } = lab(['c', 'a', 'b'].map((id) => append(id, log)));
    await agent.run('go');

    expect(log).toEqual(['c', 'a', 'b']);
    expect(model.requests[0]?.messages).toEqual(['go', 'c', 'a', 'b'].map(say));
  });

  test.each([0, 1, 2])('S1-2.2.3: ends the run if the extension at index %i short-circuits', async (stopIndex) => {
    const metrics = recordingSink();
    const log: string[] = [];
    const extensions = ['a', 'b', 'c'].map((id, index): ExtensionInput => {
      if (index !== stopIndex) return append(id, log);
      return { id, onInputMessages: (messages) => shortCircuit(messages.map(({ content }) => content).join()) };
    });
    const { agent, model } = lab(extensions, { registry: { metrics } });
    const { text, decisions } = await agent.run('go');

    expect(text).toBe(['go', 'a', 'b'].slice(0, stopIndex + 1).join());
    expect(log).toEqual(['a', 'b'].slice(0, stopIndex));
    expect(model.requests).toEqual([]);
    expect(decisions.at(-1)).toMatchObject({ type: 'respond', by: 'abc'[stopIndex] });
    expect(metrics.lines.filter((line) => line.includes('short_circuit'))).toEqual([
      `extension.callback.total 1 {"callback_type":"on_input_messages","extension_id":"${'abc'[stopIndex]}","outcome":"short_circuit"}`,
    ]);
  });

  test('S1-2.3.1: a throw is logged with the extension, the callback and the session', async () => {
    const error = new Error('boom');
    const { agent, logger } = lab([{ id: 'bad', onInputMessages: () => Promise.reject(error) }]);
    await (await agent.session({ id: 's1' })).run('go');

    expect(logger.records.filter(({ level }) => level === 'error')).toEqual([
      {
        level: 'error',
        message: 'Extension "bad": onInputMessages failed in session "s1": boom',
        details: { extensionId: 'bad', callback: 'onInputMessages', session: 's1', error },
      },
    ]);
  });

  test('S1-2.3.2, S1-2.3.3: ignores the changes of a callback that throws, and the run continues', async () => {
    const bad: ExtensionInput = {
      id: 'bad',
      onInputMessages(messages) {
        (messages as Message[]).push(say('half'));
        (messages[0] as { content: string }).content = 'spoilt';
        throw new Error('boom');
      },
    };
    const { agent, model } = lab([append('a'), bad, append('b')]);

    expect((await agent.run('go')).text).toBe('Aye.');
    expect(model.requests[0]?.messages).toEqual(['go', 'a', 'b'].map(say));
  });

  test.each([
    ['a string', 'x'],
    ['null', null],
    ['an array of numbers', [1]],
    ['an unknown role', [{ role: 'boss', content: '' }]],
    [
      'a tool call without its result',
      [{ role: 'assistant', content: [{ type: 'tool-call', id: 'a', name: 'b', input: {} }] }],
    ],
  ])('ignores a callback that returns %s', async (_value, returned) => {
    const { agent, model, logger } = lab([{ id: 'bad', onInputMessages: () => returned as never }]);
    await agent.run('go');

    expect(model.requests[0]?.messages).toEqual([say('go')]);
    expect(logger.records.filter(({ level }) => level === 'error')).toHaveLength(1);
  });

  test('S1-2.3.2: ignores a callback whose messages cannot be copied, and calls the next extension', async () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const unreadable: Message[] = [
      { role: 'assistant', content: [{ type: 'tool-call', id: '1', name: 'echo', input: proxy }] },
      { role: 'tool', content: [{ type: 'tool-result', id: '1', name: 'echo', content: '' }] },
    ];
    const { agent, model, logger } = lab([
      append('first'),
      { id: 'second', onInputMessages: (messages) => [...messages, ...unreadable] },
      append('third'),
    ]);
    await agent.run('go');

    expect(model.requests[0]?.messages).toEqual([say('go'), say('first'), say('third')]);
    expect(logger.records.filter(({ level }) => level === 'error')).toMatchObject([
      { details: { extensionId: 'second', callback: 'onInputMessages' } },
    ]);
  });

  test('ignores in-place changes that the callback does not return', async () => {
    const deep = {
      role: 'user',
      content: [
        { type: 'text', text: 'a' },
        { type: 'image', image: new Uint8Array([1]) },
      ],
    };
    const { agent, model } = lab([
      {
        id: 'x',
        onInputMessages([first]) {
          const [text, image] = (first as Message).content as unknown as [{ text: string }, { image: Uint8Array }];
          text.text = 'b';
          image.image[0] = 2;
        },
      },
    ]);
    await agent.run('go', { messages: [deep as Message] });

    expect(model.requests[0]?.messages[0]).toEqual({
      role: 'user',
      content: [
        { type: 'text', text: 'a' },
        { type: 'image', image: new Uint8Array([1]) },
      ],
    });
    expect((deep.content[1] as { image: Uint8Array }).image[0]).toBe(1);
  });

  test('an in-place change of bytes does not change the original bytes, also in a Buffer', async () => {
    const given = Buffer.from('picture');
    const onInputMessages = ([first]: readonly Message[]) => {
      ((first as Message).content as unknown as [{ image: Uint8Array }])[0].image.fill(0);
    };
    const { agent } = lab([{ id: 'x', onInputMessages }]);
    await agent.run({ role: 'user', content: [{ type: 'image', image: given }] });

    expect(given.toString()).toBe('picture');
  });

  test('copies messages that were created in another realm', async () => {
    const given = runInNewContext("({ role: 'user', content: [{ type: 'text', text: 'a' }] })");
    const onInputMessages = ([first]: readonly Message[]) => {
      ((first as Message).content as unknown as [{ text: string }])[0].text = 'b';
    };
    const { agent, model } = lab([{ id: 'x', onInputMessages }]);
    await agent.run('go', { messages: [given] });

    expect(given.content[0].text).toBe('a');
    expect(textOf(model.requests[0]?.messages[0] as Message)).toBe('a');
  });

  test('changes what the model reads, once a run over the derived messages, and not the record', async () => {
    const seen: string[][] = [];
    const onInputMessages = (messages: readonly Message[]) => {
      seen.push(messages.map(textOf));
      return messages.map((message) => (message.role === 'user' ? say(textOf(message).toUpperCase()) : message));
    };
    const { agent, model } = lab([{ id: 'x', onInputMessages }]);
    agent.use({
      beforeModel(messages, run) {
        if (run.turn === 1 && messages.length === 5) run.summarize({ text: 'short', from: messages.at(-1), messages });
        return run.messages;
      },
    });
    const session = await agent.session({ id: 's' });
    for (const input of ['one', 'two', 'three']) await session.run(input);
    const [first] = session.entries;
    await session.run('again', { at: first?.id });

    expect(seen.map((texts) => texts.filter((_, at) => at % 2 === 0))).toEqual([
      ['one'],
      ['one', 'two'],
      ['[Summary of the conversation so far]\nshort'],
      ['one'],
    ]);
    expect(textOf(model.requests[2]?.messages.at(-1) as Message)).toBe('THREE');
    expect(model.requests[2]?.messages).toHaveLength(2);
    expect(session.messages.map(textOf).slice(0, 2)).toEqual(['one', 'again']);
  });
});
