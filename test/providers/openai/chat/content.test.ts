import { describe, expect, test } from 'vitest';
import type { FilePart, UserMessage } from '../../../../src/model/message.js';
import type { ModelResponse } from '../../../../src/model/model.js';
import { toWireContent } from '../../../../src/providers/openai/chat/content.js';
import { growth } from '../../../support/growth.js';
import { exchange, sentBody, streamedExchange } from '../../../support/providers/openai-exchange.js';
import { chunk } from '../../../support/providers/openai-reply.js';

const picture = (url: string) => ({ type: 'image_url', image_url: { url } });
const end = chunk({}, 'stop');
const hello = { role: 'user' as const, content: 'Hello' };

/** Reads a message received whole and the same message in deltas, and returns the response. */
async function bothWays(
  message: object,
  ...chunks: readonly object[]
): Promise<readonly (ModelResponse | undefined)[]> {
  const whole = await exchange({ json: { choices: [{ message, finish_reason: 'stop' }] } });
  const streamed = await streamedExchange({ chunks: [...chunks, end] });
  return [whole.response, streamed.response];
}

async function sentContent(...content: Exclude<UserMessage['content'], string>): Promise<unknown> {
  const { messages } = (await sentBody({ messages: [{ role: 'user', content }] })) as { messages: [UserMessage] };
  return messages[0].content;
}

describe('a response', () => {
  test('contains generated images as file parts after its text', async () => {
    const [png, remote] = [picture('data:image/png;base64,iVBORw0KGgo='), picture('https://example.com/a')];

    const responses = await bothWays(
      { content: 'There.', images: [png, remote, { type: 'image_url' }, null] },
      chunk({ content: 'There.' }),
      chunk({ images: [png] }),
      chunk({ images: [remote] }),
    );

    const providerMetadata = { openai: { model: 'gpt-5-mini', field: 'images' } };
    const content = [
      { type: 'text', text: 'There.' },
      { type: 'file', data: 'data:image/png;base64,iVBORw0KGgo=', mediaType: 'image/png', providerMetadata },
      { type: 'file', data: 'https://example.com/a', mediaType: 'image/*', providerMetadata },
    ];
    expect(responses.map((response) => response?.content)).toEqual([content, content]);
  });

  test('with only an image is sent back only to the model that generated it', async () => {
    const image = picture('data:image/png;base64,iVBORw0KGgo=');
    const [response] = await bothWays({ content: null, images: [image] });
    const messages = [{ role: 'assistant' as const, content: response?.content ?? [] }, hello];

    expect(await sentBody({ messages })).toMatchObject({
      messages: [{ role: 'assistant', content: '', images: [image] }, hello],
    });
    expect(await sentBody({ messages }, { modelId: 'another' })).toMatchObject({ messages: [hello] });
  });

  test('that is audio has its transcript as text', async () => {
    const responses = await bothWays(
      { content: null, audio: { id: 'audio_1', data: 'UklGRg==', transcript: 'Good day.', expires_at: 1 } },
      chunk({ audio: { id: 'audio_1', transcript: 'Good ' } }),
      chunk({ audio: { data: 'AAAA' } }),
      chunk({ audio: { transcript: 'day.' } }),
    );

    const content = [{ type: 'text', text: 'Good day.' }];
    expect(responses.map((response) => response?.content)).toEqual([content, content]);
  });

  test('has the citations and the logprobs as provider metadata', async () => {
    const token = (text: string) => ({ token: text, logprob: -0.5, top_logprobs: [] });
    const citation = (url: string) => ({ type: 'url_citation', url_citation: { url, title: 'A' } });
    const sources = { citations: ['https://a.example'], search_results: [{ url: 'https://a.example' }] };
    const message = { content: 'Hi you', annotations: [citation('https://a.example'), citation('https://b.example')] };
    const logprobs = { content: [token('Hi'), token(' you')] };
    const delta = (content: string, url: string) => ({
      choices: [{ delta: { content, annotations: [citation(url)] }, logprobs: { content: [token(content)] } }],
      ...sources,
    });

    const whole = await exchange({ json: { ...sources, choices: [{ message, logprobs, finish_reason: 'stop' }] } });
    const chunks = [delta('Hi', 'https://a.example'), delta(' you', 'https://b.example'), end];
    const streamed = await streamedExchange({ chunks });

    const told = { logprobs, annotations: message.annotations, ...sources };
    expect(whole.response?.providerMetadata).toEqual({ openai: told });
    expect(streamed.response?.providerMetadata).toMatchObject({ openai: told });
  });
});

describe('a request', () => {
  test.each<[string, FilePart, string]>([
    ['bytes', { type: 'file', data: Buffer.from('Grüße'), mediaType: 'text/plain' }, 'Grüße'],
    ['base64', { type: 'file', data: btoa('{"a":1}'), mediaType: 'application/ld+json' }, '{"a":1}'],
    ['a data URL', { type: 'file', data: 'data:text/csv,a%2Cb', mediaType: 'text/csv; header=present' }, 'a,b'],
    [
      'a named file',
      { type: 'file', data: btoa('a: 1'), mediaType: 'application/x-yaml', filename: 'a.yaml' },
      'a.yaml:\na: 1',
    ],
  ])('sends a text file given as %s as a text part', async (_title, file, text) => {
    expect(await sentContent({ type: 'text', text: 'Read:' }, file)).toEqual([
      { type: 'text', text: 'Read:' },
      { type: 'text', text },
    ]);
  });

  test.each<[string, FilePart]>([
    ['a URL', { type: 'file', data: 'https://example.com/a.txt', mediaType: 'text/plain' }],
    ['bytes in invalid UTF-8', { type: 'file', data: new Uint8Array([0xff, 0xfe]), mediaType: 'text/plain' }],
    ['invalid base64', { type: 'file', data: 'Grüße', mediaType: 'text/plain' }],
  ])('sends a text file given as %s as a file part', async (_title, file) => {
    expect(await sentContent(file)).toMatchObject([{ type: 'file' }]);
  });

  test.each([
    ['audio/wav', 'wav'],
    ['audio/x-wav', 'wav'],
    ['audio/vnd.wave', 'wav'],
    ['audio/mpeg', 'mp3'],
    ['audio/x-m4a', 'm4a'],
    ['audio/mp4', 'm4a'],
    ['audio/ogg; codecs=opus', 'ogg'],
    ['audio/flac', 'flac'],
  ])('sends audio of type %s with the format %s', async (mediaType, format) => {
    const data = 'UklGRg==';

    expect(await sentContent({ type: 'file', data, mediaType })).toEqual([
      { type: 'input_audio', input_audio: { data, format } },
    ]);
  });

  test('drops an empty text part beside other parts, since some servers refuse it', async () => {
    const image = { type: 'image' as const, image: 'https://example.com/a.png' };

    expect(await sentContent({ type: 'text', text: '' }, image)).toEqual([picture('https://example.com/a.png')]);
    expect(await sentContent({ type: 'text', text: 'Hi' }, { type: 'text', text: '' })).toBe('Hi');
    expect(await sentContent({ type: 'text', text: '' })).toBe('');
  });
});

test('converts a long text file in linear time', async () => {
  const convert = (size: number) => {
    const file = { type: 'file', data: btoa('x'.repeat(size)), mediaType: 'text/plain' } as const;
    return () => toWireContent([file], 'gpt-5-mini');
  };

  expect(await growth(300_000, convert)).toBeLessThan(100);
});
