import type { Message } from 'keelson';
import { toUIMessages } from 'keelson/ui';
import { expect, test } from 'vitest';

const call = (id: string, input: unknown = {}) => ({ type: 'tool-call', id, name: 'add', input }) as const;
const result = (id: string, more: object = {}) =>
  ({ type: 'tool-result', id, name: 'add', content: '3', ...more }) as const;

test('joins all turns of one answer into one message', () => {
  const history: Message[] = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: '1 + 2?' },
    { role: 'assistant', content: [{ type: 'reasoning', text: 'Easy.' }, call('c1', { a: 1 })] },
    { role: 'tool', content: [result('c1', { structured: { sum: 3 } })] },
    { role: 'assistant', content: [{ type: 'text', text: '3' }] },
  ];

  expect(toUIMessages(history, { chatId: 'c' })).toEqual([
    { id: 'u1', role: 'user', parts: [{ type: 'text', text: '1 + 2?' }] },
    {
      id: expect.stringMatching(/^a1-[0-9a-f]{8}$/),
      role: 'assistant',
      parts: [
        { type: 'step-start' },
        { type: 'reasoning', text: 'Easy.', state: 'done' },
        { type: 'tool-add', toolCallId: 'c1', state: 'output-available', input: { a: 1 }, output: { sum: 3 } },
        { type: 'step-start' },
        { type: 'text', text: '3', state: 'done' },
      ],
    },
  ]);
});

test('gives the same text different message ids in different chats', () => {
  const history: Message[] = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: [{ type: 'text', text: 'Hello.' }] },
  ];
  const idIn = (chatId: string) => toUIMessages(history, { chatId })[1]?.id;

  expect(idIn('a')).toBe(idIn('a'));
  expect(idIn('a')).not.toBe(idIn('b'));
});

test('shows an open tool call as a request for approval', () => {
  const history: Message[] = [
    { role: 'user', content: '1 + 2?' },
    { role: 'assistant', content: [call('c1')] },
  ];

  expect(toUIMessages(history)[1]?.parts).toContainEqual({
    type: 'tool-add',
    toolCallId: 'c1',
    state: 'approval-requested',
    input: {},
    approval: { id: 'c1' },
  });
});

test('hides the text of a failed tool call', () => {
  const history: Message[] = [
    { role: 'user', content: '1 + 2?' },
    { role: 'assistant', content: [call('c1')] },
    { role: 'tool', content: [result('c1', { isError: true, content: 'cannot read /srv' })] },
  ];

  const messages = toUIMessages(history);

  expect(messages[1]?.parts).toContainEqual(expect.objectContaining({ errorText: 'The tool failed.' }));
  expect(JSON.stringify(messages)).not.toContain('/srv');
});

test('shows files of the user and of the assistant as data URLs', () => {
  const history: Message[] = [
    {
      role: 'user',
      content: [
        { type: 'image', image: new Uint8Array([1, 2, 3]), mediaType: 'image/png' },
        { type: 'file', data: 'AQID', mediaType: 'application/pdf', filename: 'a.pdf' },
      ],
    },
    { role: 'assistant', content: [{ type: 'file', data: 'AQID', mediaType: 'image/gif' }] },
  ];

  const [user, assistant] = toUIMessages(history);

  expect(user?.parts).toEqual([
    { type: 'file', url: 'data:image/png;base64,AQID', mediaType: 'image/png' },
    { type: 'file', url: 'data:application/pdf;base64,AQID', mediaType: 'application/pdf', filename: 'a.pdf' },
  ]);
  expect(assistant?.parts[1]).toEqual({ type: 'file', url: 'data:image/gif;base64,AQID', mediaType: 'image/gif' });
});

test('shows the original string of invalid tool arguments', () => {
  const history: Message[] = [
    { role: 'user', content: '1 + 2?' },
    { role: 'assistant', content: [{ ...call('c1', undefined), invalidInput: '{"a":' }] },
    { role: 'tool', content: [result('c1', { isError: true })] },
  ];

  expect(toUIMessages(history)[1]?.parts).toContainEqual(expect.objectContaining({ input: '{"a":' }));
});
