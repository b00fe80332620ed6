import { fromUIMessages } from 'keelson/ui';
import { expect, test } from 'vitest';

const user = (text: string, id = 'x1') => ({ id, role: 'user', parts: [{ type: 'text', text }] });
const answerOf = (...parts: object[]) => ({
  id: 'run-1',
  role: 'assistant',
  parts: [{ type: 'step-start' }, ...parts],
});
const responded = (approval: unknown, more: object = {}) => ({
  type: 'tool-add',
  toolCallId: 'c1',
  state: 'approval-responded',
  input: {},
  approval,
  ...more,
});
const body = (messages: unknown, more: object = {}) => ({ id: 'chat', messages, trigger: 'submit-message', ...more });

test('reads the last user message', () => {
  expect(fromUIMessages(body([user('Hi'), answerOf({ type: 'text', text: 'Hello.' }), user('Bye', 'x2')]))).toEqual({
    type: 'message',
    chatId: 'chat',
    message: { role: 'user', content: 'Bye' },
    id: 'x2',
    after: 'x1',
    edited: false,
  });
});

test('reads files of the user message', () => {
  const parts = [
    { type: 'text', text: 'See' },
    { type: 'file', url: 'data:image/png;base64,AQID', mediaType: 'image/png' },
    { type: 'file', url: 'data:application/pdf;base64,AQID', mediaType: 'application/pdf', filename: 'a.pdf' },
  ];

  expect(fromUIMessages(body([{ id: 'x', role: 'user', parts }]))).toMatchObject({
    message: {
      content: [
        { type: 'text', text: 'See' },
        { type: 'image', image: 'data:image/png;base64,AQID', mediaType: 'image/png' },
        { type: 'file', data: 'data:application/pdf;base64,AQID', filename: 'a.pdf' },
      ],
    },
  });
});

test('reads an edited message with the id of the user message before it', () => {
  const messages = [user('Hi'), answerOf({ type: 'text', text: 'Hello.' }), user('Bye, Bo', 'x2')];

  expect(fromUIMessages(body(messages, { messageId: 'x2' }))).toEqual({
    type: 'message',
    chatId: 'chat',
    message: { role: 'user', content: 'Bye, Bo' },
    id: 'x2',
    after: 'x1',
    edited: true,
  });
});

test('reads a request to answer the last user message anew', () => {
  const marker = { id: 's1', role: 'assistant', parts: [{ type: 'data-summary', data: { text: 'Sums.' } }] };
  const regenerate = { trigger: 'regenerate-message', messageId: 'run-1' };

  expect(fromUIMessages(body([user('Hi'), marker], regenerate))).toEqual({
    type: 'regenerate',
    chatId: 'chat',
    message: { role: 'user', content: 'Hi' },
    id: 'x1',
    after: undefined,
    answer: 'run-1',
  });
});

test.each([
  [{ id: 'c1', approved: true }, 'approve'],
  [{ id: 'c1', approved: false }, 'deny'],
  [{ id: 'c1', approved: false, reason: 'Too much.' }, { deny: 'Too much.' }],
])('reads the approval response %j', (approval, decision) => {
  expect(fromUIMessages(body([user('Hi'), answerOf(responded(approval))]))).toEqual({
    type: 'decisions',
    chatId: 'chat',
    id: 'run-1',
    decisions: { c1: decision },
    results: {},
  });
});

test('reads the outputs of tool calls', () => {
  const part = (state: string, toolCallId: string, rest: object) => ({
    type: 'tool-add',
    toolCallId,
    state,
    input: {},
    ...rest,
  });
  const parts = [
    part('output-available', 'c1', { output: { sum: 3 } }),
    part('output-available', 'c2', {}),
    part('output-available', 'c3', { output: 1, preliminary: true }),
    part('output-error', 'c4', { errorText: 'No numbers.' }),
  ];

  const read = fromUIMessages(body([user('Hi'), { ...answerOf({}), parts }]));

  expect(read).toMatchObject({ type: 'decisions', decisions: {} });
  expect(read).toHaveProperty('results', {
    c1: { result: { sum: 3 } },
    c2: { result: 'Done.' },
    c4: { result: 'No numbers.', isError: true },
  });
});

test.each([
  ['an array instead of an object', [], /the body/],
  ['a missing id', body([user('Hi')], { id: undefined }), /`id`/],
  ['an empty list of messages', body([]), /`messages`/],
  ['an unknown trigger', body([user('Hi')], { trigger: 'resume' }), /`trigger`/],
  ['a message that is a string', body(['Hi']), /`messages\[0\]`/],
  ['a system message', body([{ ...user('Hi'), role: 'system' }]), /the role of `messages\[0\]`/],
  ['parts without a type', body([{ ...user('Hi'), parts: [{}] }]), /the parts of/],
  ['a text that is a number', body([{ ...user('Hi'), parts: [{ type: 'text', text: 1 }] }]), /the text of part 0/],
  ['a message without parts', body([{ ...user('Hi'), parts: [] }]), /at least one part/],
  [
    'a file with a URL of another server',
    body([{ ...user('Hi'), parts: [{ type: 'file', url: 'http://10.0.0.1/', mediaType: 'image/png' }] }]),
    /`data:` URL/,
  ],
  ['a tool call of the user', body([{ ...user('Hi'), parts: [responded({})] }]), /"text" or "file"/],
  ['an approval that is a string', body([user('Hi'), answerOf(responded('yes'))]), /the approval in/],
])('refuses %s', (_title, invalid, message) => {
  expect(() => fromUIMessages(invalid)).toThrow(expect.objectContaining({ code: 'ERR_UI_BODY_INVALID' }));
  expect(() => fromUIMessages(invalid)).toThrow(message);
});

test.each([
  ['no decision', { type: 'tool-add', toolCallId: 'c1', state: 'input-available', input: {} }],
  ['an approval id of another call', responded({ id: 'c2', approved: true })],
])('refuses an assistant message at the end with %s', (_title, part) => {
  expect(() => fromUIMessages(body([user('Hi'), answerOf(part)]))).toThrow(
    expect.objectContaining({ code: 'ERR_UI_CALL_UNKNOWN', status: 409 }),
  );
});
