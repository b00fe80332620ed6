import { openai, ProviderError } from 'keelson/openai';
import { OpenAI } from 'openai';
import { describe, expect, test, vi } from 'vitest';
import { exchange, hello, streamedExchange } from '../../support/providers/openai-exchange.js';
import { chunk, completionOf, replyWith } from '../../support/providers/openai-reply.js';
import { type Reply, type RequestBody, startOpenAIServer } from '../../support/providers/openai-server.js';

// The client logs events that it cannot parse to the console.
vi.stubEnv('OPENAI_LOG', 'off');

const rateLimit = (headers: Record<string, string> = {}): Reply => ({
  status: 429,
  headers: { 'x-request-id': 'req_429', ...headers },
  json: { error: { message: 'Rate limit reached', type: 'requests', param: null, code: 'rate_limit_exceeded' } },
});
const _overloaded: Reply = { status: 503, json: { error: { message: 'Overloaded' } } };
const good: Reply = { json: completionOf({ text: 'Hi' }) };

describe('the retry delay of an error status', () => {
  test.each([
    [{ 'retry-after-ms': '1500', 'retry-after': '7' }, 1500],
    [{ 'retry-after-ms': 'soon', 'retry-after': '0.5' }, 500],
    [{ 'retry-after': new Date(Date.now() - 60_000).toUTCString() }, 0],
    [{ 'retry-after': '-5' }, 0],
    [{ 'retry-after': 'later' }, undefined],
    [{ 'retry-after': '1m30s' }, undefined],
    [{ 'retry-after': 'Infinity' }, undefined],
    [{ 'retry-after-ms': 'Infinity' }, undefined],
  ])('is read from %j', async (headers, retryAfterMs) => {
    expect((await exchange(rateLimit(headers))).error).toMatchObject({ retryAfterMs });
  });

  test('is read from a date', async () => {
    const { error } = await exchange(rateLimit({ 'retry-after': new Date(Date.now() + 30_000).toUTCString() }));

    expect((error as ProviderError).retryAfterMs).toBeGreaterThan(25_000);
    expect((error as ProviderError).retryAfterMs).toBeLessThanOrEqual(30_000);
  });

  test.each([
    ['53s', 53_000],
    ['0.25s', 250],
    ['soon', undefined],
    [7, undefined],
  ])('is read from %j in the body of a Google server', async (retryDelay, retryAfterMs) => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.Help' }, { retryDelay }];
    const json = { error: { code: 429, message: 'Quota exceeded', status: 'RESOURCE_EXHAUSTED', details } };

    for (const body of [json, [json]]) {
      expect((await exchange({ status: 429, json: body })).error).toMatchObject({ retryAfterMs, retryable: true });
    }
  });
});

test.each<[string, unknown, string]>([
  ['Gemini, in an array', [{ error: { code: 400, message: 'Not valid', status: 'INVALID_ARGUMENT' } }], 'Not valid'],
  ['Cerebras, flat', { message: 'Wrong key', type: 'invalid_request_error', code: 'wrong_api_key' }, 'Wrong key'],
  ['vLLM, flat', { object: 'error', message: 'Too long', type: 'BadRequestError', code: 400 }, 'Too long'],
  ['xAI, as a string', { code: 'invalid argument', error: 'Not a key' }, 'Not a key'],
  ['Ollama, as a string', { error: 'model "x" not found' }, 'model "x" not found'],
  ['Anthropic, with its type', { type: 'error', error: { type: 'overloaded', message: 'Busy' } }, 'Busy'],
  ['a framework, as a detail', { detail: 'Not Found' }, 'Not Found'],
  [
    'a framework, as an array of details',
    { detail: [{ loc: ['model'], msg: 'required' }] },
    '[{"loc":["model"],"msg":"required"}]',
  ],
  ['a gateway, nested in another error', { error: { message: { error: { message: 'Deep' } } } }, 'Deep'],
  [
    'OpenRouter, with the upstream error as JSON',
    { error: { message: 'Provider returned error', metadata: { raw: '{"error":{"message":"Too many tokens"}}' } } },
    'Provider returned error (Too many tokens)',
  ],
  [
    'OpenRouter, with an upstream error that is not JSON',
    { error: { message: 'Provider returned error', metadata: { raw: 'Bad gateway', provider_name: 'X' } } },
    'Provider returned error (Bad gateway)',
  ],
  ['a proxy, as a JSON string', 'Down', 'Down'],
  ['a server without a reason', { error: null }, '{"error":null}'],
])('the message shows an error in the form of %s', async (_title, json, reason) => {
  const { error } = await exchange({ status: 422, json });

  expect(error).toMatchObject({ message: `422 ${reason}`, status: 422, retryable: false, cause: { status: 422 } });
});

test('the status of an error is kept if its body is cut off', async () => {
  const headers = { 'content-type': 'application/json' };

  const { error } = await exchange({ status: 503, chunks: ['{"error":{"mess'], end: 'drop', headers });

  expect(error).toMatchObject({ status: 503, retryable: true });
});

describe('an invalid response', () => {
  const choices = (choice: object): Reply => ({ json: { choices: [choice] } });

  test.each<[string, Reply, RegExp]>([
    ['an empty body', { body: '' }, /body is empty/],
    ['incomplete JSON without a JSON content type', { body: '{"choices":' }, /JSON is incomplete/],
    ['no choice', { json: { choices: [] } }, /expected a choice with a message, got \{"choices":\[\]\}/],
    [
      'an error in unknown fields',
      { json: { choices: null, base_resp: { status_code: 1004, status_msg: 'Not logged in' } } },
      /"status_msg":"Not logged in"/,
    ],
    ['an error in an array', { json: [{ error: { message: 'Overloaded', code: 503 } }] }, /^Overloaded$/],
    ['no message', choices({ message: null, finish_reason: 'stop' }), /expected a choice with a message/],
    ['missing tool calls', choices({ message: { content: '' }, finish_reason: 'tool_calls' }), /contains no tool call/],
    [
      'missing tool calls in a stream',
      { chunks: [chunk({ reasoning: 'I look.' }), chunk({ tool_calls: [{ index: 0 }] }), chunk({}, 'tool_calls')] },
      /contains no tool call/,
    ],
    ['an error', { json: { error: { message: 'Upstream died', code: 502 } } }, /^Upstream died$/],
    ['an error that is a string', { json: { error: 'out of memory' } }, /^out of memory$/],
  ])('rejects as retryable: %s', async (_title, reply, message) => {
    const { error } = 'chunks' in reply ? await streamedExchange(reply) : await exchange(reply);

    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({ message: expect.stringMatching(message), retryable: true });
  });

  test.each<[string, Reply, RegExp]>([
    ['JSON that is not an object', { body: '[1]' }, /expected a JSON object/],
    ['an error in the choice', choices({ error: { message: 'No', code: 400 } }), /^No$/],
  ])('rejects as not retryable: %s', async (_title, reply, message) => {
    const { error } = await exchange(reply);

    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({ message: expect.stringMatching(message), retryable: false });
  });
});

test('a response after the timeout of the client rejects as retryable', async () => {
  await using server = await startOpenAIServer([{ ...good, delayMs: 5000 }]);
  const client = new OpenAI({ baseURL: server.baseURL, apiKey: 'k', maxRetries: 0, timeout: 50 });

  const call = openai('m', { client }).generate(hello);

  await expect(call).rejects.toMatchObject({ message: expect.stringContaining('timed out'), retryable: true });
});

describe('a stream that breaks', () => {
  const begun = chunk({ content: 'Once upon' });
  const headers = { 'x-request-id': 'req_cut' };

  test.each<[string, Reply]>([
    ['stops inside an event', { chunks: [begun, 'data: {"id":"chatcmpl-1","choi'], end: 'silent', headers }],
    ['carries an error', { chunks: [begun, { error: { message: 'Overloaded', type: 'server_error' } }], headers }],
    ['carries an error as an event name', { chunks: [begun, 'event: error\ndata: {"message":"Died"}\n\n'], headers }],
    [
      'carries an error in place of choices',
      { chunks: [begun, { object: 'error', message: 'Died', code: 500 }], headers },
    ],
    ['has the finish reason error', { chunks: [begun, chunk({}, 'error')], headers }],
    ['carries an error in a choice', { chunks: [begun, { choices: [{ error: { code: 500 } }] }], headers }],
  ])('and %s rejects as retryable', async (_title, reply) => {
    const { error, parts } = await streamedExchange(reply);

    expect(parts).toEqual([{ type: 'text-delta', text: 'Once upon' }]);
    expect(error).toMatchObject({ code: 'ERR_PROVIDER_FAILED', retryable: true, requestId: 'req_cut' });
  });

  test.each([
    ['beside its choices', { choices: [], error: { message: 'Too long', code: 400 } }],
    ['instead of choices', { object: 'error', message: 'Too long', type: 'BadRequestError', code: 400 }],
    ['instead of choices, without a type', { code: '400', message: 'Too long', request_id: 'r' }],
    ['in an array', 'data: [{"error":{"code":400,"message":"Too long"}}]\n\n'],
  ])('has the message of an error %s', async (_title, error) => {
    const got = await streamedExchange({ chunks: [begun, error] });

    expect(got.error).toMatchObject({ message: 'Too long', status: 400, retryable: false });
  });

  test('in an array is read with an existing client', async () => {
    await using server = await startOpenAIServer([{ chunks: ['data: [{"error":{"code":503,"message":"Full"}}]\n\n'] }]);
    const client = new OpenAI({ baseURL: server.baseURL, apiKey: 'k' });

    const call = openai('m', { client }).generate({ ...hello, onPart: () => {} });

    await expect(call).rejects.toMatchObject({ message: 'Full', status: 503 });
  });

  test.each([
    ['MiniMax', { choices: null, base_resp: { status_msg: 'No balance' } }],
    ['Groq', { choices: [], x_groq: { id: 'r', error: 'No balance' } }],
  ])('has the message of an error in the form of %s', async (_title, event) => {
    const { error } = await streamedExchange({ chunks: [begun, event] });

    expect(error).toMatchObject({ message: expect.stringContaining('No balance'), retryable: true });
  });

  test('is not reported for an empty error object beside a response', async () => {
    const error = { message: '', type: '', param: '', code: null };
    const json = { choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }], error };

    const whole = await exchange({ json });
    const streamed = await streamedExchange({
      chunks: [
        { ...begun, error },
        { ...chunk({}, 'stop'), error: {} },
      ],
    });

    expect([whole.error, streamed.error]).toEqual([undefined, undefined]);
    expect(streamed.response?.content).toEqual([{ type: 'text', text: 'Once upon' }]);
  });

  test('for a bad request is not retryable', async () => {
    const wrong = { error: { message: 'Too long', type: 'invalid_request_error', code: null } };

    const { error } = await streamedExchange({ chunks: [wrong] });

    expect(error).toMatchObject({ message: 'Too long', status: undefined, retryable: false });
  });
});

describe('retries', () => {
  const soon = rateLimit({ 'retry-after-ms': '20' });

  test('default to the setting of an existing client', async () => {
    await using server = await startOpenAIServer([soon]);
    const client = new OpenAI({ baseURL: server.baseURL, apiKey: 'k', maxRetries: 1 });

    await expect(openai('m', { client }).generate(hello)).rejects.toMatchObject({ status: 429 });
    expect(server.requests).toHaveLength(2);
  });

  test.each<[string, Reply]>([
    ['in a stream', { chunks: [{ error: { code: 503, message: 'Full' } }] }],
    [
      'in a stream after a delta with only a role',
      { chunks: [chunk({ role: 'assistant' }), { error: { code: 503 } }] },
    ],
    ['in a whole body', { json: { error: { code: 503, message: 'Full' } } }],
  ])('follow an error with a status %s before the first part', async (_title, reply) => {
    const script = (body: RequestBody, index: number) => (index === 0 ? reply : replyWith({ text: 'Hi' }, body));

    const { response, parts, requests } = await streamedExchange(script, {}, { maxRetries: 1 });

    expect(response?.content).toEqual([{ type: 'text', text: 'Hi' }]);
    expect(parts).toEqual([{ type: 'text-delta', text: 'Hi' }]);
    expect(requests).toHaveLength(2);
  });

  test.each<[string, object]>([
    ['after a part', { chunks: [chunk({ content: 'Hi' }), { error: { code: 503 } }] }],
    ['for a bad request', { chunks: [{ error: { code: 400 } }] }],
    ['without a status', { chunks: [{ error: { message: 'Died' } }] }],
  ])('do not follow an error inside a stream %s', async (_title, reply) => {
    const { error, requests } = await streamedExchange(reply as Reply, {}, { maxRetries: 1 });

    expect(error).toMatchObject({ code: 'ERR_PROVIDER_FAILED' });
    expect(requests).toHaveLength(1);
  });
});
