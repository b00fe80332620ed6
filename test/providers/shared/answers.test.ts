import { describe, expect, test } from 'vitest';
import { textOf } from '../../../src/model/message.js';
import type { ModelPart } from '../../../src/model/model.js';
import { call, hello, inOrder, pieces } from '../../support/providers/adapter-call.js';
import { adapters } from '../../support/providers/adapters.js';
import { eventBytes, type Reply, startOpenAIServer } from '../../support/providers/openai-server.js';

const add = (id: string, text: string) => ({ id, name: 'add', arguments: text });
const said = {
  text: 'Let me add: 👋 Grüße.',
  toolCalls: [add('call_1', '{"a":1,"b":{"c":"👋"}}'), add('call_2', '{"a":3}')],
};
const content = [
  { type: 'text', text: said.text },
  { type: 'tool-call', id: 'call_1', name: 'add', input: { a: 1, b: { c: '👋' } } },
  { type: 'tool-call', id: 'call_2', name: 'add', input: { a: 3 } },
];

type StreamReply = Extract<Reply, { readonly chunks: unknown }> & { readonly chunks: Iterable<unknown> };

/** Splits the bytes of a reply into chunks that end inside characters. */
function insideCharacters(reply: StreamReply): Reply {
  const bytes = Buffer.concat([...reply.chunks].map(eventBytes));
  const cuts = ['👋', 'ü'].map((character) => bytes.indexOf(character) + 1).sort((a, b) => a - b);
  const chunks = [0, ...cuts].map((from, at) => bytes.subarray(from, cuts[at]));
  return { ...reply, chunks, gapMs: 10 };
}

describe.each(adapters)('a response by $name', (adapter) => {
  test('has its parts in order, a finish reason and usage', async () => {
    for (const listens of [true, false]) {
      const { response, parts } = await call(adapter, inOrder(adapter, said), { listens });

      expect(response).toMatchObject({
        content,
        finishReason: 'tool-calls',
        usage: { inputTokens: 12, outputTokens: 5, totalTokens: 17 },
      });
      expect(parts.length > 0).toBe(listens);
    }
  });

  test.each([
    ['one byte', (reply: StreamReply) => ({ ...reply, splitBytes: 1 })],
    ['half of a character', insideCharacters],
  ])('is pushed in order with chunks that end after %s', async (_title, cut) => {
    const { parts, response } = await call(adapter, (body) => cut(adapter.reply(said, body) as StreamReply));

    expect(response?.content).toMatchObject(content);
    expect(pieces(parts, 'text-delta')).toBe(said.text);
    expect(pieces(parts, 'tool-input-delta')).toBe(said.toolCalls.map(({ arguments: text }) => text).join(''));
    const kinds = parts.map(({ type }) => type);
    expect(kinds.lastIndexOf('text-delta')).toBeLessThan(kinds.indexOf('tool-input-delta'));
    expect(kinds.filter((type) => type === 'text-delta').length).toBeGreaterThan(1);
  });

  test('is pushed before its end, and nothing is pushed after it', async () => {
    let goOn = () => {};
    const heard = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    async function* chunks() {
      const { chunks: whole } = adapter.reply({ text: 'Once upon a time' }, { stream: true }) as { chunks: unknown[] };
      const end = whole.length - 2;
      yield* whole.slice(0, end);
      await heard;
      yield* whole.slice(end);
    }
    await using server = await startOpenAIServer([{ chunks: chunks() }]);
    const parts: ModelPart[] = [];
    let isOver = false;
    const onPart = (part: ModelPart) => {
      parts.push(part);
      expect(isOver).toBe(false);
      if (pieces(parts, 'text-delta') === 'Once upon a time') goOn();
    };

    const response = await adapter.model(server.baseURL).generate({ ...hello, onPart });
    isOver = true;

    expect(response.content).toMatchObject([{ type: 'text', text: 'Once upon a time' }]);
  });

  test.each([
    ['', { input: {} }],
    ['{}', { input: {} }],
    ['null', { input: {} }],
    ['{"a":1,', { input: {}, invalidInput: '{"a":1,' }],
    ['two', { input: {}, invalidInput: 'two' }],
    ['[1]', { input: [1] }],
    ['{"__proto__":{"x":1}}', { input: JSON.parse('{"__proto__":{"x":1}}') }],
  ])('accepts a call with %j as arguments', async (text, expected) => {
    for (const listens of [true, false]) {
      const { response } = await call(adapter, inOrder(adapter, { toolCalls: [add('call_1', text)] }), { listens });

      const [called] = response?.content ?? [];
      expect({ ...called, providerMetadata: undefined }).toEqual({
        type: 'tool-call',
        id: 'call_1',
        name: 'add',
        ...expected,
      });
      expect(response?.finishReason).toBe('tool-calls');
    }
  });

  test.each(['length', 'content-filter'] as const)(
    'has the finish reason %s with and without calls',
    async (finish) => {
      for (const listens of [true, false]) {
        const toolCalls = [add('call_1', '{"a":')];
        const cut = await call(adapter, inOrder(adapter, { text: 'Once', finish }), { listens });
        const calling = await call(adapter, inOrder(adapter, { toolCalls, finish }), { listens });

        expect(cut.response).toMatchObject({ finishReason: finish, content: [{ text: 'Once' }] });
        expect(calling.response).toMatchObject({ finishReason: finish, content: [{ invalidInput: '{"a":' }] });
      }
    },
  );

  test('may be empty or blank', async () => {
    for (const listens of [true, false]) {
      const empty = await call(adapter, inOrder(adapter, { text: '' }), { listens });
      const spaces = await call(adapter, inOrder(adapter, { text: ' \n' }), { listens });

      expect(empty.response).toMatchObject({ finishReason: 'stop' });
      expect(textOf({ role: 'assistant', content: empty.response?.content ?? [] })).toBe('');
      expect(spaces.response?.content).toMatchObject([{ type: 'text', text: ' \n' }]);
    }
  });

  test('has unique call ids if the server repeats an id', async () => {
    for (const listens of [true, false]) {
      const toolCalls = [add('call_1', '{"a":1}'), add('call_1', '{"a":2}')];
      const { response } = await call(adapter, inOrder(adapter, { toolCalls }), { listens });

      const ids = response?.content.map((part) => (part.type === 'tool-call' ? part.id : ''));
      expect(response?.content).toMatchObject([{ input: { a: 1 } }, { input: { a: 2 } }]);
      expect(new Set(ids).size).toBe(2);
    }
  });

  test('is rejected as not retryable if a call has no name', async () => {
    for (const listens of [true, false]) {
      const toolCalls = [{ id: 'call_1', name: '', arguments: '{}' }];
      const { error } = await call(adapter, inOrder(adapter, { toolCalls }), { listens });

      expect(error).toMatchObject({
        code: 'ERR_PROVIDER_FAILED',
        retryable: false,
        message: expect.stringMatching(/name/),
      });
    }
  });

  test('is not mixed up with others in concurrent calls of two models', async () => {
    const echo = (body: { readonly stream?: boolean }) => {
      const [asked] = adapter.heard(body as never).filter(({ type }) => type === 'user');
      return { ...adapter.reply({ text: `You said ${(asked as { text: string }).text}` }, body), delayMs: 5 };
    };
    await using server = await startOpenAIServer(echo);
    const models = [adapter.model(server.baseURL), adapter.model(server.baseURL)];
    const ask = async (at: number) => {
      const parts: ModelPart[] = [];
      const onPart = (part: ModelPart) => void parts.push(part);
      const messages = [{ role: 'user' as const, content: `no. ${at}` }];
      const response = await models[at % 2]?.generate({ messages, tools: [], onPart });
      return [pieces(parts, 'text-delta'), response?.content[0]];
    };

    const answers = await Promise.all(Array.from({ length: 12 }, (_, at) => ask(at)));

    const texts = Array.from({ length: 12 }, (_, at) => `You said no. ${at}`);
    expect(answers).toMatchObject(texts.map((text) => [text, { type: 'text', text }]));
  });
});

test.each(adapters.filter(({ tellsReasoning }) => tellsReasoning))(
  'a response by $name has the reasoning before the text',
  async (adapter) => {
    for (const listens of [true, false]) {
      const thought = { reasoning: 'One and two.', text: 'Three.' };
      const { response, parts } = await call(adapter, inOrder(adapter, thought), { listens });

      expect(response?.content).toMatchObject([
        { type: 'reasoning', text: 'One and two.' },
        { type: 'text', text: 'Three.' },
      ]);
      expect(pieces(parts, 'reasoning-delta')).toBe(listens ? 'One and two.' : '');
      expect(pieces(parts, 'text-delta')).toBe(listens ? 'Three.' : '');
    }
  },
);
