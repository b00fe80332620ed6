import { describe, expect, test } from 'vitest';
import type { AssistantPart, ContentPart, Message } from '../../../src/model/message.js';
import { call, sentBody, stream, toolUse } from '../../support/providers/anthropic-server.js';

const MODEL = 'claude-sonnet-5';
const text = (said: string) => ({ type: 'text' as const, text: said });
const user = (content: string | readonly ContentPart[]): Message => ({ role: 'user', content });
const assistant = (...content: readonly AssistantPart[]): Message => ({ role: 'assistant', content });
const toolCall = (id: string, name = 'look') => ({ type: 'tool-call' as const, id, name, input: {} });
const result = (id: string, content: string | readonly ContentPart[], isError?: boolean): Message => ({
  role: 'tool',
  content: [{ type: 'tool-result', id, name: 'look', content, isError }],
});

async function sent(...messages: readonly Message[]): Promise<readonly { role: string; content: unknown }[]> {
  return (await sentBody({ messages }, MODEL)).messages as never;
}

const content = async (parts: readonly ContentPart[]) => (await sent(user(parts)))[0]?.content;

describe('system messages', () => {
  test('become the system prompt at the start, and stay in place later', async () => {
    const messages: Message[] = [
      { role: 'system', content: 'Be brief.' },
      { role: 'system', content: 'Be kind.' },
      user('Hello'),
      assistant(text('Hi')),
      { role: 'system', content: 'It is late.' },
      user('Well?'),
    ];

    const body = await sentBody({ messages }, MODEL);

    expect(body.system).toBe('Be brief.\n\nBe kind.');
    expect(body.messages).toEqual([
      { role: 'user', content: [text('Hello')] },
      { role: 'assistant', content: [text('Hi')] },
      { role: 'user', content: [text('<system>\nIt is late.\n</system>'), text('Well?')] },
    ]);
  });
});

describe('turns', () => {
  test('of one role are merged, and empty messages are dropped', async () => {
    const messages = [
      user('One'),
      user([text(' '), text('two')]),
      assistant(text('')),
      user('three'),
      assistant(text('A')),
      assistant(text('B')),
    ];

    expect(await sent(...messages, user('?'))).toEqual([
      { role: 'user', content: [text('One'), text('two'), text('three')] },
      { role: 'assistant', content: [text('A'), text('B')] },
      { role: 'user', content: [text('?')] },
    ]);
  });

  test('begin with a user turn, and end without trailing spaces', async () => {
    expect(await sent(assistant(text('The answer is: \n')))).toEqual([
      { role: 'user', content: [text('(no message)')] },
      { role: 'assistant', content: [text('The answer is:')] },
    ]);
  });

  test('have tool results first, even if an error result contains an image', async () => {
    const picture = { type: 'image', image: 'https://example.org/a.png' } as const;

    expect(
      await sent(
        user('Look'),
        assistant(toolCall('a'), toolCall('b')),
        {
          role: 'tool',
          content: [
            { type: 'tool-result', id: 'a', name: 'look', content: [text('Broken'), picture], isError: true },
            { type: 'tool-result', id: 'b', name: 'look', content: '' },
          ],
        },
        user('Well?'),
      ),
    ).toMatchObject([
      {},
      {},
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', is_error: true, content: [text('Broken')] },
          { type: 'tool_result', tool_use_id: 'b', content: [text('(no output)')] },
          { type: 'image' },
          text('Well?'),
        ],
      },
    ]);
  });
});

describe('files', () => {
  const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const base64 = Buffer.from(png).toString('base64');

  test.each([
    ['a URL', { image: 'https://example.org/a.png' }, { type: 'url', url: 'https://example.org/a.png' }],
    ['bytes', { image: png }, { type: 'base64', media_type: 'image/png', data: base64 }],
    [
      'base64 with a wrong media type',
      { image: base64, mediaType: 'image/jpeg' },
      { type: 'base64', media_type: 'image/png', data: base64 },
    ],
    [
      'a data URL',
      { image: 'data:image/webp;base64,AAAA' },
      { type: 'base64', media_type: 'image/webp', data: 'AAAA' },
    ],
  ])('send an image given as %s', async (_title, image, source) => {
    expect(await content([{ type: 'image', ...image }])).toEqual([{ type: 'image', source }]);
  });

  test.each([
    [
      'an image',
      { data: png, mediaType: 'image/png' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64 } },
    ],
    [
      'a PDF',
      { data: 'JVBERi0=', mediaType: 'application/pdf', filename: 'a.pdf' },
      { type: 'document', title: 'a.pdf', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } },
    ],
    [
      'a PDF at a URL',
      { data: 'https://example.org/a.pdf', mediaType: 'application/pdf' },
      { type: 'document', source: { type: 'url', url: 'https://example.org/a.pdf' } },
    ],
    [
      'a text file',
      { data: new TextEncoder().encode('Grüße'), mediaType: 'text/markdown' },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Grüße' } },
    ],
    [
      'a text file in a data URL',
      { data: 'data:text/plain,Gr%C3%BC%C3%9Fe', mediaType: 'text/plain' },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Grüße' } },
    ],
    [
      'an audio file',
      { data: 'AAAA', mediaType: 'audio/wav', filename: 'a.wav' },
      text('(A file "a.wav" of type audio/wav cannot be shown here.)'),
    ],
  ])('send %s in a file part', async (_title, file, block) => {
    expect(await content([{ type: 'file', ...file }])).toEqual([block]);
  });

  test('stay inside their tool result if they are images or PDF', async () => {
    const parts: ContentPart[] = [
      { type: 'image', image: png },
      { type: 'file', data: 'JVBERi0=', mediaType: 'application/pdf' },
    ];

    const [, , last] = await sent(user('Look'), assistant(toolCall('a')), result('a', parts));

    expect(last?.content).toMatchObject([{ type: 'tool_result', content: [{ type: 'image' }, { type: 'document' }] }]);
  });

  test('keep cache_control and citations of a part', async () => {
    const cache_control = { type: 'ephemeral' };

    expect(await content([{ ...text('Much'), providerMetadata: { anthropic: { cache_control } } }])).toEqual([
      { type: 'text', text: 'Much', cache_control },
    ]);
  });
});

describe('calls of another provider', () => {
  test('get unique ids and names that the API accepts', async () => {
    const ids = ['functions.look:0', 'functions look:0', 'toolu_made_1', 'ok-1'];
    const calls = ids.map((id) => toolCall(id, 'a.b'));
    const results = ids.map((id) => ({ type: 'tool-result' as const, id, name: 'a.b', content: id }));

    const [, asked, answered] = await sent(user('Look'), assistant(...calls), { role: 'tool', content: results });

    const uses = asked?.content as { id: string; name: string }[];
    expect(new Set(uses.map(({ id }) => id)).size).toBe(4);
    expect(uses.every(({ id, name }) => /^[a-zA-Z0-9_-]+$/.test(id) && name === 'a_b')).toBe(true);
    expect(answered?.content).toMatchObject(
      uses.map(({ id }, at) => ({ tool_use_id: id, content: [text(ids[at] as string)] })),
    );
  });

  test('of the same model keep their ids', async () => {
    const { response } = await call(stream({ content: [toolUse('functions.look:0', 'look', {})] }));
    const content = response?.content ?? [];
    const [, asked, answered] = await sent(
      user('Look'),
      { role: 'assistant', content },
      result('functions.look:0', '1'),
    );

    expect(asked?.content).toEqual([toolUse('functions.look:0', 'look', {})]);
    expect(answered?.content).toMatchObject([{ tool_use_id: 'functions.look:0' }]);
  });

  test('with one id in two turns get two ids', async () => {
    const messages = [
      user('Look'),
      assistant(toolCall('call_0')),
      result('call_0', '1'),
      assistant(toolCall('call_0')),
      result('call_0', '2'),
    ];

    const turns = (await sent(...messages)).slice(1).map((turn) => (turn.content as Record<string, string>[])[0]);

    expect(turns[0]?.id).toBe(turns[1]?.tool_use_id);
    expect(turns[2]?.id).toBe(turns[3]?.tool_use_id);
    expect(turns[0]?.id).not.toBe(turns[2]?.id);
  });

  test('are dropped with its reasoning if that provider executed them', async () => {
    const foreign = { openai: { model: 'gpt-5', field: 'reasoning' } };
    const parts: AssistantPart[] = [
      { type: 'reasoning', text: 'Hm', providerMetadata: foreign },
      { type: 'reasoning', text: 'Hm', providerMetadata: { anthropic: { model: 'claude-opus-5', signature: 'Ep==' } } },
      { ...toolCall('s', 'web_search'), providerExecuted: true },
      { type: 'tool-result', id: 's', name: 'web_search', content: 'Found', structured: { found: true } },
      {
        ...text('Found.'),
        providerMetadata: { anthropic: { model: 'claude-opus-5', citations: [{}], cache_control: {} } },
      },
    ];

    expect((await sent(user('Look'), assistant(...parts), user('So?')))[1]?.content).toEqual([
      { ...text('Found.'), cache_control: {} },
    ]);
  });
});

test('drops thinking that was cut off or is last in its turn', async () => {
  const unsigned = {
    type: 'reasoning',
    text: 'Hm',
    providerMetadata: { anthropic: { model: MODEL, signature: '' } },
  } as const;
  const signed = {
    type: 'reasoning',
    text: 'Hm',
    providerMetadata: { anthropic: { model: MODEL, signature: 'Ep==' } },
  } as const;

  const [, turn] = await sent(user('Look'), assistant(unsigned, text('So'), signed), user('Go on'));

  expect(turn).toEqual({ role: 'assistant', content: [text('So')] });
});
