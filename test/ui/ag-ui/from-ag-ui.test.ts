import { fromAgUIInput } from 'keelson/ui';
import { expect, test } from 'vitest';

const input = (more: object = {}) => ({
  threadId: 't1',
  runId: 'r1',
  messages: [{ id: 'u1', role: 'user', content: 'Hi' }],
  tools: [],
  context: [],
  state: {},
  ...more,
});

test('reads the last user message', () => {
  expect(fromAgUIInput(input())).toEqual({
    type: 'message',
    chatId: 't1',
    runId: 'r1',
    message: { role: 'user', content: 'Hi' },
    id: 'u1',
    after: undefined,
    page: { context: [], state: {}, forwardedProps: undefined },
  });
});

test('reads text and inline images of the last user message', () => {
  const content = [
    { type: 'text', text: 'See' },
    { type: 'image', source: { type: 'data', value: 'AQID', mimeType: 'image/png' } },
  ];

  expect(fromAgUIInput(input({ messages: [{ id: 'u1', role: 'user', content }] }))).toMatchObject({
    message: {
      content: [
        { type: 'text', text: 'See' },
        { type: 'image', image: 'data:image/png;base64,AQID', mediaType: 'image/png' },
      ],
    },
  });
});

test.each([
  [{ status: 'resolved', payload: { approved: true } }, 'approve'],
  [{ status: 'resolved', payload: { approved: false } }, 'deny'],
  [{ status: 'resolved', payload: { approved: false, reason: 'No.' } }, { deny: 'No.' }],
  [{ status: 'cancelled' }, 'deny'],
])('reads the resume entry %j', (entry, decision) => {
  expect(fromAgUIInput(input({ resume: [{ interruptId: 'c1', ...entry }] }))).toMatchObject({
    type: 'decisions',
    decisions: { c1: decision },
  });
});

test.each([
  ['a string', 'Hi', /the body/],
  ['a missing thread id', input({ threadId: '' }), /`threadId`/],
  ['a missing run id', input({ runId: 1 }), /`runId`/],
  ['messages that are an object', input({ messages: {} }), /`messages`/],
  ['no message', input({ messages: [] }), /the last message/],
  ['an assistant message at the end', input({ messages: [{ id: 'a', role: 'assistant', content: 'x' }] }), /"user"/],
  ['content that is a number', input({ messages: [{ id: 'u', role: 'user', content: 1 }] }), /the content/],
  [
    'an image with a URL of another server',
    input({
      messages: [
        { id: 'u', role: 'user', content: [{ type: 'image', source: { type: 'url', value: 'http://10.0.0.1/' } }] },
      ],
    }),
    /"text" or "file"/,
  ],
  ['resume entries in an object', input({ resume: {} }), /`resume`/],
  ['a resume entry without an id', input({ resume: [{ status: 'cancelled' }] }), /interruptId/],
  ['an unknown resume status', input({ resume: [{ interruptId: 'c', status: 'yes' }] }), /status/],
  ['a resume entry without a payload', input({ resume: [{ interruptId: 'c', status: 'resolved' }] }), /payload/],
  [
    'two resume entries for one call',
    input({ resume: [0, 1].map(() => ({ interruptId: 'c', status: 'cancelled' })) }),
    /one entry for each/,
  ],
])('refuses %s', (_title, body, message) => {
  expect(() => fromAgUIInput(body)).toThrow(expect.objectContaining({ code: 'ERR_UI_BODY_INVALID' }));
  expect(() => fromAgUIInput(body)).toThrow(message);
});

test('refuses a tool result of the page', () => {
  const messages = [{ id: 't', role: 'tool', toolCallId: 'c', content: '3' }];

  expect(() => fromAgUIInput(input({ messages }))).toThrow(expect.objectContaining({ code: 'ERR_UI_CALL_UNKNOWN' }));
});
