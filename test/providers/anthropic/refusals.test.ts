import { describe, expect, test } from 'vitest';
import type { AssistantPart, ContentPart, Message, ProviderMetadata } from '../../../src/model/message.js';
import { call, event, eventsOf, sentBody, text, toolUse } from '../../support/providers/anthropic-server.js';

const MODEL = 'claude-sonnet-5';
const user = (content: string | readonly ContentPart[]): Message => ({ role: 'user', content });
const assistant = (...content: readonly AssistantPart[]): Message => ({ role: 'assistant', content });
const said = (words: string, providerMetadata?: ProviderMetadata) => {
  return { type: 'text', text: words, ...(providerMetadata && { providerMetadata }) } as const;
};

async function sent(...messages: readonly Message[]): Promise<readonly { role: string; content: unknown }[]> {
  return (await sentBody({ messages }, MODEL)).messages as never;
}

describe('a request never contains', () => {
  test('an assistant turn at the end because of an empty user message', async () => {
    expect((await sent(user('Hi'), assistant(said('Hello.')), user(' '))).at(-1)).toEqual({
      role: 'user',
      content: [text('(no message)')],
    });
  });

  test.each<[ContentPart, string]>([
    [{ type: 'image', image: new Uint8Array([60]), mediaType: 'image/svg+xml' }, 'cannot be shown here'],
    [{ type: 'file', data: 'Qk0=', mediaType: 'image/svg+xml' }, 'cannot be shown here'],
    [{ type: 'image', image: new Uint8Array(), mediaType: 'image/png' }, 'is empty'],
    [{ type: 'file', data: '', mediaType: 'application/pdf' }, 'is empty'],
  ])('an unsupported or empty image or file: %j', async (part, why) => {
    const mediaType = part.type === 'text' ? '' : part.mediaType;

    expect((await sent(user([part])))[0]?.content).toEqual([text(`(A file of type ${mediaType} ${why}.)`)]);
  });

  test('metadata that an AI SDK model attached to a part', async () => {
    const theirs = { anthropic: { type: 'compaction', toolId: 't', cacheControl: {} }, aiSdk: { provider: 'a.b' } };
    const messages = [user('Hi'), assistant(said('Hello.', theirs)), user('?')];

    expect((await sent(...messages))[1]?.content).toEqual([text('Hello.')]);
  });

  test('the file_id of a citation', async () => {
    const citation = { type: 'char_location', cited_text: 'x', document_index: 0 };
    const metadata = { anthropic: { model: MODEL, citations: [{ ...citation, file_id: null }] } };
    const messages = [user('Hi'), assistant(said('x', metadata)), user('?')];

    expect((await sent(...messages))[1]?.content).toEqual([{ ...text('x'), citations: [citation] }]);
  });

  test('an unfinished server tool call before a user message', async () => {
    const providerMetadata = { anthropic: { model: MODEL, type: 'server_tool_use' } };
    const open = { type: 'tool-call', id: 's', name: 'web_search', input: {}, providerExecuted: true } as const;
    const history = [user('Hi'), assistant(said('Wait.'), { ...open, providerMetadata })];

    expect((await sent(...history))[1]?.content).toHaveLength(2);
    expect((await sent(...history, user('Go on')))[1]?.content).toEqual([text('Wait.')]);
  });

  test('temperature beside thinking from provider options, or a blank stop sequence', async () => {
    const body = await sentBody(
      {
        settings: {
          temperature: 0.5,
          stopSequences: ['\n\n', 'END'],
          providerOptions: { anthropic: { thinking: { type: 'enabled', budget_tokens: 2048 } } },
        },
      },
      'claude-sonnet-4-0',
    );

    expect(body).not.toHaveProperty('temperature');
    expect(body.stop_sequences).toEqual(['END']);
  });
});

describe('a stream of another server', () => {
  test('may omit event names', async () => {
    const chunks = eventsOf({ content: [text('Hi'), toolUse('t1', 'f', { a: 1 })] });
    const { response } = await call({ chunks: chunks.map((each) => each.replace(/^event: .*\n/, '')), end: 'silent' });

    expect(response?.content).toMatchObject([text('Hi'), { name: 'f', input: { a: 1 } }]);
  });

  test('may repeat an index, and send the complete input in the start event', async () => {
    const { response } = await call({
      chunks: [
        event({ type: 'message_start', message: { usage: {} } }),
        event({ type: 'content_block_start', index: 0, content_block: text('') }),
        event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } }),
        event({ type: 'content_block_start', index: 0, content_block: toolUse('t1', 'f', { a: 1 }) }),
        event({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '' } }),
        event({ type: 'message_delta', delta: { stop_reason: 'tool_use' } }),
      ],
      end: 'silent',
    });

    expect(response?.content).toMatchObject([text('Hi'), { name: 'f', input: { a: 1 } }]);
  });

  test('may report only output tokens at its end', async () => {
    const { response } = await call({
      chunks: [
        event({ type: 'message_start', message: { usage: { input_tokens: 12, output_tokens: 0 } } }),
        event({
          type: 'message_delta',
          delta: { stop_reason: 'end_turn' },
          usage: { input_tokens: 0, output_tokens: 5 },
        }),
      ],
      end: 'silent',
    });

    expect(response?.usage).toMatchObject({ inputTokens: 12, outputTokens: 5 });
  });
});
