import { createOpenAI } from 'ai-sdk-openai-v3';
import { type AiSdkModel, type AiSdkOptions, aiSdk } from 'keelson/ai-sdk';
import { describe, expect, test } from 'vitest';
import type { ContentPart, FilePart, ImagePart, Message } from '../../../src/model/message.js';
import { call, scriptedModel } from '../../support/providers/ai-sdk-model.js';
import { replyWith } from '../../support/providers/openai-reply.js';
import { startOpenAIServer } from '../../support/providers/openai-server.js';

const answer = { content: [{ type: 'text', text: 'Hi' }] };
const bytes = new Uint8Array([1, 2, 3]);
const url = 'https://a.test/B.png';

async function exchangeOf(part: ImagePart | FilePart, options: AiSdkOptions = {}, fields: Partial<AiSdkModel> = {}) {
  const supportedUrls = { 'image/*': [/^https:\/\/a\.test\/.*\.png$/g] };
  const model = scriptedModel(fields.specificationVersion ?? 'v3', [answer], { supportedUrls, ...fields });
  return call(model, { messages: [{ role: 'user', content: [part] }] }, options);
}

async function sentPart(part: ImagePart | FilePart, options: AiSdkOptions = {}, fields: Partial<AiSdkModel> = {}) {
  const { error, model } = await exchangeOf(part, options, fields);
  if (error) throw error;
  const [{ prompt = [] } = {}] = model.calls;
  return (prompt as { content: unknown[] }[])[0]?.content[0];
}

describe('an image or a file', () => {
  test.each<[string, ImagePart | FilePart, object]>([
    [
      'a base64 string',
      { type: 'image', image: 'AQID', mediaType: 'image/png' },
      { data: 'AQID', mediaType: 'image/png' },
    ],
    ['bytes', { type: 'image', image: bytes, mediaType: 'image/png' }, { data: bytes, mediaType: 'image/png' }],
    ['a data URL', { type: 'image', image: 'data:image/gif;base64,AQID' }, { data: 'AQID', mediaType: 'image/gif' }],
    [
      'a data URL without base64',
      { type: 'file', data: 'data:,a%20b', mediaType: 'text/plain' },
      { data: new TextEncoder().encode('a b'), mediaType: 'text/plain' },
    ],
    ['a URL', { type: 'image', image: url }, { data: new URL(url), mediaType: 'image/*' }],
    [
      'a file',
      { type: 'file', data: 'JVBE', mediaType: 'application/pdf', filename: 'a.pdf' },
      { data: 'JVBE', mediaType: 'application/pdf', filename: 'a.pdf' },
    ],
  ])('is sent if given as %s', async (_title, part, expected) => {
    expect(await sentPart(part)).toEqual({ type: 'file', ...expected });
  });

  test('has a type for its data since v4', async () => {
    const v4 = { specificationVersion: 'v4' } as const;

    expect(await sentPart({ type: 'image', image: url }, {}, v4)).toMatchObject({
      data: { type: 'url', url: new URL(url) },
    });
    expect(await sentPart({ type: 'image', image: bytes, mediaType: 'image/png' }, {}, v4)).toMatchObject({
      data: { type: 'data', data: bytes },
    });
  });

  test.each<[ImagePart | FilePart, RegExp]>([
    [{ type: 'image', image: 'AQID' }, /mediaType/],
    [{ type: 'image', image: bytes }, /mediaType/],
    [{ type: 'file', data: 'data:text/plain,%', mediaType: 'text/plain' }, /%/],
    [{ type: 'image', image: 'https://' }, /must be a valid URL, got "https:/],
  ])('is refused if its data is invalid: %j', async (part, message) => {
    const { error, model } = await exchangeOf(part);

    expect(error).toMatchObject({ code: 'ERR_MESSAGE_INVALID', message: expect.stringMatching(message) });
    expect(model.calls).toEqual([]);
  });
});

describe('a URL that the model does not read', () => {
  const pdf: FilePart = { type: 'file', data: 'https://a.test/a.pdf', mediaType: 'application/pdf' };

  test('is not fetched, and the error says what to do', async () => {
    const { error, model } = await exchangeOf(pdf);

    expect(error).toMatchObject({
      code: 'ERR_MESSAGE_INVALID',
      message: expect.stringMatching(/"scripted".*application\/pdf.*https:\/\/a\.test\/a\.pdf.*`download`/),
    });
    expect(model.calls).toEqual([]);
  });

  test('is passed to `download` once per call, with the abort signal', async () => {
    const asked: unknown[] = [];
    const { signal } = new AbortController();
    const download: AiSdkOptions['download'] = async (address, given) => {
      asked.push([address.href, given instanceof AbortSignal]);
      return address.href.endsWith('.pdf') ? bytes : { data: bytes, mediaType: 'image/webp' };
    };
    const picture: ImagePart = { type: 'image', image: 'https://b.test/' };
    const model = scriptedModel('v3', [answer], { supportedUrls: Promise.resolve({ '*/*': [/^gs:/] }) });

    await call(model, { messages: [{ role: 'user', content: [pdf, pdf, picture] }], signal }, { download });

    expect(asked).toEqual([
      ['https://a.test/a.pdf', true],
      ['https://b.test/', true],
    ]);
    const file = { type: 'file', data: bytes, mediaType: 'application/pdf' };
    const content = [file, file, { type: 'file', data: bytes, mediaType: 'image/webp' }];
    expect(model.calls[0]?.prompt).toEqual([{ role: 'user', content }]);
  });

  test('is sent as a string in a tool result', async () => {
    const model = scriptedModel('v3', [answer]);
    const toolCall = { type: 'tool-call', id: 'c1', name: 'f', input: {} } as const;
    const result = { type: 'tool-result', id: 'c1', name: 'f', content: [pdf] } as const;

    const { error } = await call(model, {
      messages: [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: [toolCall] },
        { role: 'tool', content: [result] },
      ],
    });

    expect(error).toBeUndefined();
    expect(model.calls[0]?.prompt).toMatchObject([
      {},
      {},
      { content: [{ output: { type: 'content', value: [{ type: 'text', text: pdf.data }] } }] },
    ]);
  });
});

describe('a file in a tool result that the provider does not support', () => {
  const archive = {
    type: 'file',
    data: new Uint8Array([80]),
    mediaType: 'application/zip',
    filename: 'a.zip',
  } as const;
  const note = { type: 'file', data: 'aGk=', mediaType: 'text/plain' } as const;
  const picture = { type: 'image', image: 'iVBO', mediaType: 'image/png' } as const;
  const turn = (...content: readonly ContentPart[]): readonly Message[] => [
    { role: 'user', content: 'Look' },
    { role: 'assistant', content: [{ type: 'tool-call', id: 'c1', name: 'look', input: {} }] },
    { role: 'tool', content: [{ type: 'tool-result', id: 'c1', name: 'look', content }] },
  ];

  test.each([false, true])('becomes a note, and images stay (streamed: %s)', async (streamed) => {
    await using server = await startOpenAIServer((body) => replyWith({ text: 'I see.' }, body));
    const model = createOpenAI({ baseURL: server.baseURL, apiKey: 'k' }).chat('m');

    const { content } = await aiSdk(model).generate({
      messages: turn(archive, note, picture),
      tools: [],
      ...(streamed && { onPart: () => {} }),
    });

    expect(content).toEqual([{ type: 'text', text: 'I see.' }]);
    expect(server.requests[0]?.body.messages.slice(2)).toEqual([
      {
        role: 'tool',
        tool_call_id: 'c1',
        content: '(A file "a.zip" of type application/zip cannot be shown here.)\nhi\n(1 attachment follows.)',
      },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'From tool call c1 (look):' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO' } },
        ],
      },
    ]);
  });

  test('becomes a note with all images if needed, and the original error is thrown if that fails too', async () => {
    const unsupported = Object.assign(new Error('No files.'), { name: 'AI_UnsupportedFunctionalityError' });
    const blind = scriptedModel('v3', [unsupported, unsupported, answer]);
    const broken = scriptedModel('v3', [unsupported]);

    expect((await call(blind, { messages: turn(archive, picture) })).error).toBeUndefined();
    expect(JSON.stringify(blind.calls[2])).toContain('(A file of type image/png cannot be shown here.)');
    expect((await call(broken, { messages: turn(archive, picture) })).error).toMatchObject({ message: 'No files.' });
    expect((await call(broken, {})).error).toMatchObject({ message: 'No files.' });
    expect(broken.calls).toHaveLength(4);
  });
});
