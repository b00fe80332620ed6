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
    tools: [],
  });
});

test('reads the tool messages at the end as results, also with activities between', () => {
  const tool = (toolCallId: string, content: unknown, more = {}) => ({ role: 'tool', toolCallId, content, ...more });
  const messages = [
    { id: 'u1', role: 'user', content: 'Hi' },
    tool('c0', 'earlier'),
    { id: 'a1', role: 'assistant' },
    tool('c1', 'red'),
    { id: 'n1', role: 'activity', activityType: 'nested-run', content: {} },
    tool('c2', [{ type: 'text', text: 'blue' }]),
    tool('c3', '', { error: 'No screen.' }),
  ];

  expect(fromAgUIInput(input({ messages }))).toMatchObject({ type: 'decisions', decisions: {} });
  expect(fromAgUIInput(input({ messages }))).toHaveProperty('results', {
    c1: { result: 'red' },
    c2: { result: [{ type: 'text', text: 'blue' }] },
    c3: { result: 'No screen.', isError: true },
  });
});

test('reads the tools of the page, which have no `execute`', () => {
  const parameters = { type: 'object', properties: { shades: { type: 'number' } }, required: ['shades'] };
  const tools = [
    { name: 'askColour', description: 'Asks.', parameters },
    { name: 'reload', description: '' },
  ];

  const read = fromAgUIInput(input({ tools })).tools;

  expect(read).toMatchObject([
    { name: 'askColour', description: 'Asks.', inputSchema: parameters, origin: 'page' },
    { name: 'reload', description: '', inputSchema: { type: 'object', properties: {} } },
  ]);
  expect(read.map(({ execute }) => execute)).toEqual([undefined, undefined]);
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
  [{ status: 'resolved', payload: { approved: true, input: { euro: 30 } } }, { approve: { euro: 30 } }],
  [{ status: 'resolved', payload: { approved: false, input: { euro: 30 } } }, 'deny'],
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
  ['tools that are an object', input({ tools: {} }), /`tools` must be an array of at most 64 tools, got {}/],
  ['65 tools', input({ tools: Array(65).fill({}) }), /`tools` must be an array of at most 64 tools, got 65/],
  ['a tool that is a string', input({ tools: ['x'] }), /`tools\[0\]` must be an object/],
  ['a tool without a name', input({ tools: [{ description: '' }] }), /the name of `tools\[0\]`/],
  ['a tool without a description', input({ tools: [{ name: 'a' }] }), /the description of `tools\[0\]`/],
  ['a tool name with a space', input({ tools: [{ name: 'a b', description: '' }] }), /1 to 64 letters/],
  [
    'parameters that are a list',
    input({ tools: [{ name: 'a', description: '', parameters: [] }] }),
    /the parameters of/,
  ],
  [
    'parameters of an array',
    input({ tools: [{ name: 'a', description: '', parameters: { type: 'array' } }] }),
    /arguments are always an object/,
  ],
  ['two tools with one name', input({ tools: Array(2).fill({ name: 'a', description: '' }) }), /different, got "a"/],
  [
    'a result without a call',
    input({ messages: [{ role: 'tool', content: 'x' }] }),
    /the toolCallId of `messages\[0\]`/,
  ],
  [
    'a result that is a number',
    input({ messages: [{ role: 'tool', toolCallId: 'c', content: 1 }] }),
    /the content of `messages\[0\]`/,
  ],
  [
    'two resume entries for one call',
    input({ resume: [0, 1].map(() => ({ interruptId: 'c', status: 'cancelled' })) }),
    /one entry for each/,
  ],
])('refuses %s', (_title, body, message) => {
  expect(() => fromAgUIInput(body)).toThrow(expect.objectContaining({ code: 'ERR_UI_BODY_INVALID' }));
  expect(() => fromAgUIInput(body)).toThrow(message);
});
