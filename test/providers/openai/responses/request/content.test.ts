import { expect, test } from 'vitest';
import type { ContentPart } from '../../../../../src/model/message.js';
import { resultPart, userContent } from '../../../../../src/providers/openai/responses/request/content.js';

const PNG = 'iVBORw0KGgoAAAANSUhEUg==';
const image = (more: object): ContentPart => ({ type: 'image', image: PNG, ...more });
const file = (data: string, mediaType: string, more: object = {}): ContentPart => ({
  type: 'file',
  data,
  mediaType,
  ...more,
});
const png = `data:image/png;base64,${PNG}`;
const fields = (of: object) => ({ providerMetadata: { openai: { fields: of } } });

test.each([
  ['a base64 image', image({}), { type: 'input_image', image_url: png, detail: 'auto' }],
  [
    'an image by URL',
    image({ image: 'https://a.example/1.png' }),
    { type: 'input_image', image_url: 'https://a.example/1.png', detail: 'auto' },
  ],
  [
    'an image with a detail',
    image(fields({ detail: 'high' })),
    { type: 'input_image', image_url: png, detail: 'high' },
  ],
  ['an uploaded image', image(fields({ file_id: 'file_1' })), { type: 'input_image', file_id: 'file_1' }],
  [
    'a PDF',
    file('JVBERi0=', 'application/pdf'),
    { type: 'input_file', filename: 'file.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
  ],
  [
    'a PDF by URL',
    file('https://a.example/1.pdf', 'application/pdf'),
    { type: 'input_file', file_url: 'https://a.example/1.pdf' },
  ],
  ['a text file', file('SGk=', 'text/plain', { filename: 'a.txt' }), { type: 'input_text', text: 'a.txt:\nHi' }],
  [
    'a text with half of a surrogate pair',
    { type: 'text', text: 'a\ud83d' } as const,
    { type: 'input_text', text: 'a\ufffd' },
  ],
])('sends %s', (_title, part, wire) => {
  expect(userContent([part, { type: 'text', text: ' ' }])).toEqual([wire]);
});

test.each([
  [
    'an archive',
    file('UEs=', 'application/zip', { filename: 'a.zip' }),
    'A file "a.zip" of type application/zip cannot be shown here.',
  ],
  ['a bitmap', file('Qk0=', 'image/bmp'), 'A file of type image/bmp cannot be shown here.'],
  ['sound', file('T2dnUw==', 'audio/ogg'), 'A file of type audio/ogg cannot be shown here.'],
  [
    'a text file by URL',
    file('https://a.example/1.txt', 'text/plain'),
    'A file of type text/plain at https://a.example/1.txt cannot be shown here.',
  ],
])('replaces %s in a tool result with a note', (_title, part, note) => {
  expect(resultPart(part)).toEqual({ type: 'input_text', text: `(${note})` });
});
