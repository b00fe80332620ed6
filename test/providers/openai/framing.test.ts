import { OpenAI } from 'openai';
import { describe, expect, test } from 'vitest';
import { exchange, streamedExchange } from '../../support/providers/openai-exchange.js';
import { chunk, completionOf } from '../../support/providers/openai-reply.js';
import { startOpenAIServer } from '../../support/providers/openai-server.js';

/** A chunk without a finish reason field, as some servers send it. */
const bare = (delta: object, rest: object = {}) => ({ choices: [{ delta, index: 0 }], ...rest });
const called = { index: 0, id: 'a', function: { name: 'look', arguments: '{}' } };
const usage = { prompt_tokens: 6, completion_tokens: 2, total_tokens: 8 };

describe('a stream without finish reasons', () => {
  test('is complete after [DONE]', async () => {
    const status = { code: 0, message: 'Success' };
    const chunks = [bare({ role: 'assistant', content: 'Hi' }, status), bare({ content: '!' }, { ...status, usage })];

    const { response, parts } = await streamedExchange({ chunks });

    expect(response).toMatchObject({
      content: [{ type: 'text', text: 'Hi!' }],
      finishReason: 'other',
      usage: { inputTokens: 6, outputTokens: 2, totalTokens: 8 },
    });
    expect(parts).toHaveLength(2);
  });

  test('can contain tool calls', async () => {
    const { response } = await streamedExchange({ chunks: [bare({ tool_calls: [called] })] });

    expect(response).toMatchObject({ content: [{ name: 'look', input: {} }], finishReason: 'tool-calls' });
  });

  test.each([
    ['has no [DONE]', { chunks: [bare({ content: 'Hi' })], end: 'silent' as const }],
    ['has only [DONE]', { chunks: [] }],
  ])('is rejected as cut off if it %s', async (_title, reply) => {
    expect((await streamedExchange(reply)).error).toMatchObject({ code: 'ERR_PROVIDER_FAILED', retryable: true });
  });
});

describe('a server that streams without being asked', () => {
  const chunks = [chunk({ content: 'Hi' }), chunk({ tool_calls: [called] }), chunk({}, 'tool_calls')];
  const answer = { content: [{ text: 'Hi' }, { name: 'look' }], finishReason: 'tool-calls' };

  test('is read as a stream', async () => {
    expect((await exchange({ chunks })).response).toMatchObject(answer);
  });

  test('is read as a stream with an existing client', async () => {
    await using server = await startOpenAIServer([{ chunks }]);
    const client = new OpenAI({ baseURL: server.baseURL, apiKey: 'k' });

    const { response } = await exchange({ drop: true }, {}, { client, baseURL: undefined });

    expect(response).toMatchObject(answer);
  });

  test('rejects if the stream is cut off or contains an error', async () => {
    const cut = await exchange({ chunks: [chunk({ content: 'Hi' })], end: 'silent' });
    const failed = await exchange({ chunks: [{ error: { message: 'No credits', code: 402 } }] });

    expect(cut.error).toMatchObject({
      message: expect.stringContaining('ended before the response was complete'),
      retryable: true,
    });
    expect(failed.error).toMatchObject({ message: 'No credits', status: 402, retryable: false });
  });
});

test('reads a complete response followed by [DONE], streamed or not', async () => {
  const body = `${JSON.stringify(completionOf({ text: 'Hi' }), null, 2)}\n\ndata: [DONE]\n\n`;
  const headers = { 'content-type': 'text/event-stream' };

  for (const { response, error } of [await exchange({ body, headers }), await streamedExchange({ body, headers })]) {
    expect(error).toBeUndefined();
    expect(response).toMatchObject({ content: [{ text: 'Hi' }], finishReason: 'stop', usage: { inputTokens: 12 } });
  }
});

describe('an error at the start of a stream, identified only by name,', () => {
  const good = { chunks: [chunk({ content: 'Hi' }), chunk({}, 'stop')] };

  test.each([
    ['overloaded_error', 529],
    ['rate_limit_error', 429],
    ['server_error', 500],
  ])('is retried if it is %s', async (type, status) => {
    const bad = { chunks: [{ type: 'error', error: { type, message: 'Busy' } }] };

    const given = await streamedExchange(bad);
    const again = await streamedExchange((_body, index) => (index === 0 ? bad : good), {}, { maxRetries: 1 });

    expect(given.error).toMatchObject({ message: 'Busy', status, retryable: true });
    expect(again.response).toMatchObject({ content: [{ text: 'Hi' }] });
  });

  test.each([
    { type: 'authentication_error', code: null },
    { type: 'insufficient_quota', code: 'insufficient_quota' },
    { type: 'server_error', code: 'invalid_api_key' },
    { code: 'CONTEXT_LENGTH_EXCEEDED' },
  ])('is not retryable if it is %j', async (error) => {
    const { error: failure } = await streamedExchange({ chunks: [{ error: { message: 'No', ...error } }] });

    expect(failure).toMatchObject({ message: 'No', status: undefined, retryable: false });
  });
});

test.each([exchange, streamedExchange])('rejects a response without a body as retryable', async (ask) => {
  const { error } = await ask({ status: 204, body: '' });

  expect(error).toMatchObject({ message: expect.stringContaining('is empty'), retryable: true });
});
