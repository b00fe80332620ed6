import { anthropic } from 'keelson/anthropic';
import { describe, expect, test } from 'vitest';
import {
  call,
  event,
  eventsOf,
  messageOf,
  startAnthropicServer,
  stream,
  text,
  toolUse,
} from '../support/anthropic-server.js';
import { hello } from '../support/openai-exchange.js';

const answer = {
  content: [
    { type: 'thinking', thinking: 'Hm, hm', signature: 'EqQBCg==' },
    text('Adding'),
    toolUse('toolu_1', 'add', { a: 1 }),
  ],
};

describe('a stream', () => {
  test('gives its parts in order, and then the whole', async () => {
    const { parts, response } = await call(stream(answer));

    expect(parts).toEqual([
      { type: 'reasoning-delta', text: 'Hm,' },
      { type: 'reasoning-delta', text: ' hm' },
      { type: 'text-delta', text: 'Add' },
      { type: 'text-delta', text: 'ing' },
      { type: 'tool-call-delta', text: '{"a"' },
      { type: 'tool-call-delta', text: ':1}' },
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

  test.each([1, 7])('is read the same in writes of %i bytes', async (splitBytes) => {
    const whole = await call(stream({ content: [text('Grüße 👋')] }));
    const cut = await call({ chunks: eventsOf({ content: [text('Grüße 👋')] }), end: 'silent', splitBytes });

    expect(cut.response).toEqual(whole.response);
  });

  test('is the same where nobody listens, and where the server sends it whole', async () => {
    const heard = await call(stream(answer));
    const unheard = await call(stream(answer), { onPart: undefined });
    const whole = await call({ json: messageOf(answer) });

    expect(unheard.response).toEqual(heard.response);
    expect(whole.response).toEqual(heard.response);
  });

  test('may have events, deltas and blocks of unknown kinds', async () => {
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
    ['cut', 'drop'],
    ['ended politely', 'silent'],
  ] as const)('that is %s before it said why is no answer, and may be asked for again', async (_title, end) => {
    const { response, error, parts, requests } = await call(
      { chunks: eventsOf(answer).slice(0, -2), end },
      {},
      { maxRetries: 2 },
    );

    expect(response).toBeUndefined();
    expect(parts).toHaveLength(6);
    expect(requests).toHaveLength(1);
    expect(error).toMatchObject({ code: 'ERR_PROVIDER_FAILED', provider: 'anthropic', retryable: true });
  });

  test.each([
    ['overloaded_error', 529, true],
    ['api_error', 500, true],
    ['rate_limit_error', 429, true],
    ['invalid_request_error', undefined, false],
  ])('that bears an %s rejects with it', async (type, status, retryable) => {
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

  test('that is overloaded before it said a word is asked for again', async () => {
    const failure = event({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } });
    const script = (_body: unknown, index: number) =>
      index === 0 ? { chunks: [eventsOf(answer)[0], failure], end: 'silent' as const } : stream(answer);

    const { response, requests } = await call(script, {}, { maxRetries: 1 });

    expect(response?.finishReason).toBe('tool-calls');
    expect(requests).toHaveLength(2);
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
])('an answer that stops for %s stops for %s', async (stopReason, finishReason) => {
  expect((await call(stream({ content: [text('Hi')], stopReason }))).response?.finishReason).toBe(finishReason);
});

test('an answer that is said to call tools, and calls none, may be asked for again', async () => {
  const { error } = await call(stream({ content: [text('Hi')], stopReason: 'tool_use' }));

  expect(error).toMatchObject({ code: 'ERR_PROVIDER_FAILED', retryable: true });
});

test('what was read from the cache, and written to it, is counted with the input', async () => {
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
    reasoningTokens: 25,
  });
  expect(response?.providerMetadata).toMatchObject({
    anthropic: { id: 'msg_1', usage: { cache_creation_input_tokens: 200 } },
  });
});

describe('a failure', () => {
  const body = (type: string) => ({ json: { type: 'error', error: { type, message: 'No' } } });

  test.each([
    [400, false],
    [401, false],
    [408, true],
    [409, true],
    [413, false],
    [429, true],
    [500, true],
    [529, true],
  ])('of status %i may pass: %s', async (status, retryable) => {
    const { error } = await call({ status, headers: { 'request-id': 'req_1' }, ...body('some_error') });

    expect(error).toMatchObject({
      message: `${status} No`,
      status,
      retryable,
      requestId: 'req_1',
      provider: 'anthropic',
    });
  });

  test('that may pass is tried again after the wait that the server asks for', async () => {
    const replies = [
      { status: 429, headers: { 'retry-after': '0' }, ...body('rate_limit_error') },
      { status: 529, headers: { 'retry-after-ms': '3' }, ...body('overloaded_error') },
      stream({ content: [text('Hi')] }),
    ];
    await using server = await startAnthropicServer(replies);

    const response = await anthropic('claude-sonnet-5', { baseURL: server.baseURL }).generate(hello);

    expect(response.content).toEqual([{ type: 'text', text: 'Hi' }]);
    expect(server.requests).toHaveLength(3);
  });

  test('that asks for more than a minute is not waited for', async () => {
    const { error } = await call(
      { status: 429, headers: { 'retry-after': '3600' }, ...body('rate_limit_error') },
      {},
      { maxRetries: 2 },
    );

    expect(error).toMatchObject({ status: 429, retryAfterMs: 3_600_000 });
  });

  test.each([
    ['nothing', { body: '' }, /empty/, true],
    ['a page', { body: '<html>', headers: { 'content-type': 'text/html' } }, /baseURL/, false],
    [
      'an error in a body that is called good',
      { json: { type: 'error', error: { type: 'overloaded_error', message: 'No' } } },
      /No/,
      true,
    ],
    ['no answer', { drop: true }, /connection/i, true],
  ] as const)('is %s', async (...[, reply, message, retryable]) => {
    const { error } = await call(reply);

    expect(error).toMatchObject({ code: 'ERR_PROVIDER_FAILED', message: expect.stringMatching(message), retryable });
  });

  test('of a listener is its own', async () => {
    const mine = new TypeError('Mine');
    const onPart = () => {
      throw mine;
    };

    expect((await call(stream(answer), { onPart })).error).toBe(mine);
  });
});
