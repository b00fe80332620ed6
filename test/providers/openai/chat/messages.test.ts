import { describe, expect, test } from 'vitest';
import type {
  AssistantPart,
  ContentPart,
  Message,
  ToolResultPart,
  UserMessage,
} from '../../../../src/model/message.js';
import { exchange, sentBody } from '../../../support/providers/openai-exchange.js';

const PIXEL = 'iVBORw0KGgo=';

/** Returns the messages of the request body. */
async function sent(messages: readonly Message[], modelId = 'gpt-5-mini'): Promise<unknown> {
  const body = (await sentBody({ messages }, { modelId })) as { messages: unknown };
  return body.messages;
}

/** Returns the wire parts of one user message. */
async function sentParts(...content: Exclude<UserMessage['content'], string>): Promise<unknown> {
  const [message] = (await sent([{ role: 'user', content }])) as [{ content: unknown }];
  return message.content;
}

async function sentAssistant(...content: readonly AssistantPart[]): Promise<unknown> {
  const [message] = (await sent([{ role: 'assistant', content }])) as [unknown];
  return message;
}

function result(content: string | readonly ContentPart[], rest: Partial<ToolResultPart> = {}): ToolResultPart {
  return { type: 'tool-result', id: 'call_1', name: 'look', content, ...rest };
}

describe('system and user messages', () => {
  test('send text as a plain string', async () => {
    const messages: Message[] = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hello' },
      { role: 'user', content: [{ type: 'text', text: 'One part' }] },
    ];

    expect(await sent(messages)).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hello' },
      { role: 'user', content: 'One part' },
    ]);
  });

  test('send an image as a URL for every kind of data', async () => {
    const parts = await sentParts(
      { type: 'text', text: 'Look:' },
      { type: 'image', image: 'https://example.com/a.png' },
      { type: 'image', image: `data:image/gif;base64,${PIXEL}` },
      { type: 'image', image: PIXEL, mediaType: 'image/png' },
      { type: 'image', image: Buffer.from(PIXEL, 'base64'), mediaType: 'image/jpeg' },
      { type: 'image', image: PIXEL, mediaType: 'image/*' },
    );

    expect(parts).toEqual([
      { type: 'text', text: 'Look:' },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
      { type: 'image_url', image_url: { url: `data:image/gif;base64,${PIXEL}` } },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
      { type: 'image_url', image_url: { url: `data:image/jpeg;base64,${PIXEL}` } },
      { type: 'image_url', image_url: { url: `data:image/jpeg;base64,${PIXEL}` } },
    ]);
  });

  test('send bytes completely, even more than one function call accepts as arguments', async () => {
    const image = new Uint8Array(300_000).map((_, index) => index % 251);

    const [part] = (await sentParts({ type: 'image', image, mediaType: 'image/png' })) as [
      { image_url: { url: string } },
    ];

    expect(Buffer.from(part.image_url.url.split(',')[1] ?? '', 'base64').equals(image)).toBe(true);
  });

  test('send a file, audio and an image as their own kinds of part', async () => {
    const parts = await sentParts(
      { type: 'file', data: 'JVBERi0=', mediaType: 'application/pdf', filename: 'report.pdf' },
      { type: 'file', data: new Uint8Array([37, 80]), mediaType: 'application/pdf' },
      { type: 'file', data: 'https://example.com/a.docx', mediaType: 'application/vnd.openxmlformats' },
      { type: 'file', data: 'UklGRg==', mediaType: 'audio/wav' },
      { type: 'file', data: 'data:audio/mpeg;base64,SUQz', mediaType: 'audio/mpeg' },
      { type: 'file', data: PIXEL, mediaType: 'image/webp' },
    );

    expect(parts).toEqual([
      { type: 'file', file: { filename: 'report.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
      { type: 'file', file: { filename: 'file.pdf', file_data: 'data:application/pdf;base64,JVA=' } },
      { type: 'file', file: { filename: 'file.bin', file_data: 'https://example.com/a.docx' } },
      { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
      { type: 'input_audio', input_audio: { data: 'SUQz', format: 'mp3' } },
      { type: 'image_url', image_url: { url: `data:image/webp;base64,${PIXEL}` } },
    ]);
  });

  test('send the metadata fields of a part, and drop unknown parts', async () => {
    const fields = { cache_control: { type: 'ephemeral' } };
    const unknown = { type: 'hologram' } as unknown as ContentPart;

    const parts = await sentParts({ type: 'text', text: 'Long', providerMetadata: { openai: { fields } } }, unknown);

    expect(parts).toEqual([{ type: 'text', text: 'Long', cache_control: { type: 'ephemeral' } }]);
  });
});

describe('assistant messages', () => {
  test('send text and calls in one message, with null content if there are only calls', async () => {
    const call = { type: 'tool-call' as const, id: 'call_1', name: 'look', input: { at: 'é' } };
    const wire = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":"é"}' } };

    expect(await sentAssistant({ type: 'text', text: 'I ' }, { type: 'text', text: 'look.' }, call)).toEqual({
      role: 'assistant',
      content: 'I look.',
      tool_calls: [wire],
    });
    expect(await sentAssistant(call)).toEqual({ role: 'assistant', content: null, tool_calls: [wire] });
  });

  test.each([
    ['undefined arguments', { input: undefined }, '{}'],
    ['null as arguments', { input: null }, '{}'],
    ['arguments that are not an object', { input: [1] }, '{"invalid_json":"[1]"}'],
    ['arguments that were invalid JSON', { input: {}, invalidInput: '{"a":' }, '{"invalid_json":"{\\"a\\":"}'],
  ])('send %s as a JSON object', async (_title, input, text) => {
    const message = await sentAssistant({ type: 'tool-call', id: 'call_1', name: 'look', ...input });

    expect(message).toMatchObject({ tool_calls: [{ function: { arguments: text } }] });
  });

  test('drop reasoning of other providers and calls that a provider executed', async () => {
    const message = await sentAssistant(
      { type: 'reasoning', text: 'Hm.', providerMetadata: { anthropic: { signature: 'x' } } },
      { type: 'tool-call', id: 'srv_1', name: 'web_search', input: {}, providerExecuted: true },
      result('Found.', { id: 'srv_1' }),
      { type: 'file', data: PIXEL, mediaType: 'image/png' },
      { type: 'text', text: 'Done.' },
    );

    expect(message).toEqual({ role: 'assistant', content: 'Done.' });
  });
});

describe('metadata of a part', () => {
  const details = [{ type: 'reasoning.encrypted', data: 'abc', index: 0 }];
  const signature = { google: { thought_signature: 'sig' } };
  const thoughts = { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] };
  const called = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } };

  test.each([
    ['reasoning_content', { reasoning_content: 'Hm.' }],
    ['empty reasoning_content beside a call', { reasoning_content: '', tool_calls: [called] }],
    ['reasoning', { reasoning: 'Hm.' }],
    ['reasoning_details', { reasoning_details: details }],
    ['a refusal', { content: null, refusal: 'No.' }],
    ['a signature beside the text', { content: 'Hi', extra_content: signature }],
    ['thoughts among the content', { content: [thoughts, { type: 'text', text: 'Hi' }] }],
    ['thoughts before a call', { content: [thoughts], tool_calls: [called] }],
    ['a signature beside a call', { content: null, tool_calls: [{ ...called, extra_content: signature }] }],
  ])('is sent back to its own model: %s', async (_title, fields) => {
    const message = {
      role: 'assistant',
      content: 'refusal' in fields || 'tool_calls' in fields ? null : 'Hi',
      ...fields,
    };
    const { response } = await exchange({ json: { choices: [{ message, finish_reason: 'stop' }] } });

    const sentBack = await sent([{ role: 'assistant', content: response?.content ?? [] }]);

    expect(sentBack).toEqual([message]);
  });

  test('sends reasoning_details back without the plain reasoning text', async () => {
    const message = { content: 'Hi', reasoning: 'Hm.', reasoning_details: details };
    const { response } = await exchange({ json: { choices: [{ message, finish_reason: 'stop' }] } });

    expect(response?.content[0]).toMatchObject({ type: 'reasoning', text: 'Hm.' });
    expect(await sent([{ role: 'assistant', content: response?.content ?? [] }])).toEqual([
      { role: 'assistant', content: 'Hi', reasoning_details: details },
    ]);
  });

  test('is not sent to another model, which would refuse unknown fields', async () => {
    const message = { content: 'Hi', reasoning_content: 'Hm.', tool_calls: [{ ...called, extra_content: signature }] };
    const { response } = await exchange({ json: { choices: [{ message, finish_reason: 'tool_calls' }] } });

    expect(await sent([{ role: 'assistant', content: response?.content ?? [] }], 'another-model')).toEqual([
      { role: 'assistant', content: 'Hi', tool_calls: [called] },
    ]);
  });
});

describe('tool messages', () => {
  test('mark an error once in the text', async () => {
    const content = [result('Not found.', { isError: true }), result('Error: gone', { id: 'call_2', isError: true })];

    expect(await sent([{ role: 'tool', content }])).toMatchObject([
      { content: 'Error: Not found.' },
      { content: 'Error: gone' },
    ]);
  });

  test.each<[ContentPart, string]>([
    [
      { type: 'file', data: 'UEs=', mediaType: 'application/zip', filename: 'a.zip' },
      '"a.zip" of type application/zip',
    ],
    [
      { type: 'file', data: 'https://example.org/a.txt', mediaType: 'text/plain' },
      'of type text/plain at https://example.org/a.txt',
    ],
    [{ type: 'image', image: 'data:image/svg+xml,%3Csvg/%3E' }, 'of type image/svg+xml'],
    [{ type: 'image', image: new Uint8Array([60]), mediaType: 'image/svg+xml' }, 'of type image/svg+xml'],
    [{ type: 'image', image: 'Qk0=', mediaType: 'image/bmp' }, 'of type image/bmp'],
    [{ type: 'file', data: 'SUkq', mediaType: 'image/tiff', filename: 'a.tiff' }, '"a.tiff" of type image/tiff'],
    [{ type: 'file', data: 'T2dnUw==', mediaType: 'audio/ogg' }, 'of type audio/ogg'],
    [{ type: 'file', data: 'ZkxhQw==', mediaType: 'audio/flac' }, 'of type audio/flac'],
  ])(
    'replace an unsupported file with a note, since each further request would be refused (%#)',
    async (part, what) => {
      const messages = (await sent([{ role: 'tool', content: [result([part])] }])) as readonly object[];

      expect(messages.at(-1)).toEqual({
        role: 'user',
        content: [
          { type: 'text', text: 'From tool call call_1 (look):' },
          { type: 'text', text: `(A file ${what} cannot be shown here.)` },
        ],
      });
    },
  );

  test.each<[ContentPart, string]>([
    [{ type: 'image', image: PIXEL, mediaType: 'image/jpg' }, 'image_url'],
    [{ type: 'image', image: 'https://example.org/a' }, 'image_url'],
    [{ type: 'file', data: 'UklGRg==', mediaType: 'audio/x-wav' }, 'input_audio'],
    [{ type: 'file', data: 'SUQz', mediaType: 'audio/mpeg' }, 'input_audio'],
  ])('are followed by an image or sound of a documented type (%#)', async (part, type) => {
    const messages = (await sent([{ role: 'tool', content: [result([part])] }])) as readonly object[];

    expect(messages.at(-1)).toMatchObject({ role: 'user', content: [{ type: 'text' }, { type }] });
  });

  test('are followed by one user message with all images and files', async () => {
    const image = { type: 'image' as const, image: PIXEL, mediaType: 'image/png' };
    const pdf = { type: 'file' as const, data: 'JVBERi0=', mediaType: 'application/pdf', filename: 'a.pdf' };
    const content = [
      result([{ type: 'text', text: 'Before' }, image, { type: 'text', text: 'After' }]),
      result('Plain.', { id: 'call_2' }),
      result([image, pdf], { id: 'call_3', name: 'read' }),
    ];

    expect(
      await sent([
        { role: 'tool', content },
        { role: 'user', content: 'And?' },
      ]),
    ).toEqual([
      { role: 'tool', tool_call_id: 'call_1', content: 'Before\nAfter\n(1 attachment follows.)' },
      { role: 'tool', tool_call_id: 'call_2', content: 'Plain.' },
      { role: 'tool', tool_call_id: 'call_3', content: '(2 attachments follow.)' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'From tool call call_1 (look):' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
          { type: 'text', text: 'From tool call call_3 (read):' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
        ],
      },
      { role: 'user', content: 'And?' },
    ]);
  });
});
