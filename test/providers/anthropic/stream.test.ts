import { describe, expect, test } from 'vitest';
import { call, event, eventsOf, messageOf, stream, text, toolUse } from '../../support/providers/anthropic-server.js';

const answer = {
  content: [
    { type: 'thinking', thinking: 'Hm, hm', signature: 'EqQBCg==' },
    text('Adding'),
    toolUse('toolu_1', 'add', { a: 1 }),
  ],
};

describe('a stream', () => {
  test('pushes its parts in order, and then resolves with the response', async () => {
    const { parts, response } = await call(stream(answer));

    expect(parts).toEqual([
      { type: 'reasoning-delta', text: 'Hm,' },
      { type: 'reasoning-delta', text: ' hm' },
      { type: 'text-delta', text: 'Add' },
      { type: 'text-delta', text: 'ing' },
      { type: 'tool-input-delta', id: 'toolu_1', name: 'add', text: '{"a"' },
      { type: 'tool-input-delta', id: 'toolu_1', name: 'add', text: ':1}' },
    ]);
    const metadata = { anthropic: { model: 'claude-sonnet-5', signature: 'EqQBCg==' } };
    expect(response).toMatchObject({
      content: [
        { type: 'reasoning', text: 'Hm, hm', providerMetadata: metadata },
        { type: 'text', text: 'Adding' },
        { type: 'tool-call', id: 'toolu_1', name: 'add', input: { a: 1 } },
      ],
      finishReason: 'tool-calls',
      usage: { inputTokens: 12, outputTokens: 5, totalTokens: 17 },
    });
  });

  test('gives the same response without a listener, and if the server sends a complete message', async () => {
    const heard = await call(stream(answer));
    const unheard = await call(stream(answer), { onPart: undefined });
    const whole = await call({ json: messageOf(answer) });

    expect(unheard.response).toEqual(heard.response);
    expect(whole.response).toEqual(heard.response);
  });

  test('may contain the complete answer in message_start', async () => {
    const message = messageOf({ content: [toolUse('toolu_1', 'add', { a: 1 })] });
    const chunks = [event({ type: 'message_start', message }), event({ type: 'message_stop' })];

    const { response } = await call({ chunks, end: 'silent' });

    expect(response).toMatchObject({ content: [{ id: 'toolu_1', input: { a: 1 } }], finishReason: 'tool-calls' });
  });

  test('may contain unknown events, deltas and blocks', async () => {
    const [start, ping, ...rest] = eventsOf({ content: [text('Hi'), { type: 'hologram', data: 'x' }] });
    const strange = [
      event({ type: 'mood', mood: 'good' }),
      event({ type: 'content_block_delta', index: 9, delta: { type: 'text_delta', text: 'lost' } }),
      event({ type: 'content_block_delta', index: 0, delta: { type: 'mood_delta' } }),
    ];

    const { response, error } = await call({ chunks: [start, ping, ...strange, ...rest], end: 'silent' });

    expect(error).toBeUndefined();
    expect(response?.content).toEqual([
      { type: 'text', text: 'Hi' },
      {
        type: 'reasoning',
        text: '',
        providerMetadata: { anthropic: { model: 'claude-sonnet-5', block: { type: 'hologram', data: 'x' } } },
      },
    ]);
  });

  test.each([
    ['overloaded_error', 529, true],
    ['api_error', 500, true],
    ['rate_limit_error', 429, true],
    ['invalid_request_error', undefined, false],
  ])('with an %s event rejects with this error', async (type, status, retryable) => {
    const failure = event({ type: 'error', error: { type, message: 'Not now' } });
    const chunks = [...eventsOf({ content: [text('Hi')] }).slice(0, 4), failure];

    const { error, requests } = await call(
      { chunks, end: 'silent', headers: { 'request-id': 'req_9' } },
      {},
      { maxRetries: 1 },
    );

    expect(error).toMatchObject({ message: 'Not now', status, retryable, requestId: 'req_9' });
    expect(requests).toHaveLength(1);
  });
});

test.each([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['refusal', 'content-filter'],
  ['pause_turn', 'other'],
  ['boredom', 'other'],
])('maps the stop reason %s to %s', async (stopReason, finishReason) => {
  expect((await call(stream({ content: [text('Hi')], stopReason }))).response?.finishReason).toBe(finishReason);
});

test('rejects a response with stop reason tool_use but without a call as retryable', async () => {
  const { error } = await call(stream({ content: [text('Hi')], stopReason: 'tool_use' }));

  expect(error).toMatchObject({ code: 'ERR_PROVIDER_FAILED', retryable: true });
});

test('adds tokens read from and written to the cache to the input tokens', async () => {
  const usage = {
    input_tokens: 10,
    cache_creation_input_tokens: 200,
    cache_read_input_tokens: 3000,
    output_tokens: 40,
    output_tokens_details: { thinking_tokens: 25 },
  };

  const { response } = await call(stream({ content: [text('Hi')], usage }));

  expect(response?.usage).toEqual({
    inputTokens: 3210,
    outputTokens: 40,
    totalTokens: 3250,
    cachedInputTokens: 3000,
    cacheWriteTokens: 200,
    reasoningTokens: 25,
  });
  expect(response?.providerMetadata).toMatchObject({
    anthropic: { id: 'msg_1', usage: { cache_creation_input_tokens: 200 } },
  });
});

test('a stream that begins a second message is broken', async () => {
  const [first = '', ...rest] = eventsOf({ content: [text('One')] });
  const { error } = await call({ chunks: [first, ...rest.slice(0, 2), first, ...rest], end: 'silent' });

  expect(error).toMatchObject({ retryable: true, message: expect.stringContaining('a second message') });
});

test('after a compaction on the server, the counts of the last event win', async () => {
  const [start = '', ...rest] = eventsOf({ content: [text('Noon.')] });
  const message = { input_tokens: 180_000, cache_read_input_tokens: 90_000, cache_creation_input_tokens: 5 };
  const usage = {
    ...{ input_tokens: 23_000, cache_read_input_tokens: 0, cache_creation_input_tokens: 7, output_tokens: 400 },
    iterations: [
      { type: 'compaction', input_tokens: 270_000, output_tokens: 3_500 },
      { type: 'message', input_tokens: 23_000, cache_creation_input_tokens: 7, output_tokens: 400 },
    ],
  };
  const end = event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage });
  const opening = event({ type: 'message_start', message: messageOf({ usage: message, stopReason: null }) });

  const { response } = await call({ chunks: [start && opening, ...rest.slice(0, -2), end], end: 'silent' });

  expect(response?.usage).toEqual({
    ...{ inputTokens: 23_007, outputTokens: 400, totalTokens: 23_407 },
    ...{ cachedInputTokens: 0, cacheWriteTokens: 7, contextTokens: 23_407 },
  });
});
