import { openai, ProviderError } from 'keelson/openai';
import { OpenAI } from 'openai';
import { describe, expect, test, vi } from 'vitest';
import { exchange, hello, streamedExchange } from '../../support/providers/openai-exchange.js';
import { chunk, completionOf, replyWith } from '../../support/providers/openai-reply.js';
import { type Reply, type RequestBody, startOpenAIServer } from '../../support/providers/openai-server.js';

// The client writes what it cannot parse to the console.
vi.stubEnv('OPENAI_LOG', 'off');

const rateLimit = (headers: Record<string, string> = {}): Reply => ({
  status: 429,
  headers: { 'x-request-id': 'req_429', ...headers },
  json: { error: { message: 'Rate limit reached', type: 'requests', param: null, code: 'rate_limit_exceeded' } },
});
const _overloaded: Reply = { status: 503, json: { error: { message: 'Overloaded' } } };
const good: Reply = { json: completionOf({ text: 'Hi' }) };

describe('a status that is an error', () => {
  test.each([
    [{ 'retry-after-ms': '1500', 'retry-after': '7' }, 1500],
    [{ 'retry-after-ms': 'soon', 'retry-after': '0.5' }, 500],
    [{ 'retry-after': new Date(Date.now() - 60_000).toUTCString() }, 0],
    [{ 'retry-after': '-5' }, 0],
    [{ 'retry-after': 'later' }, undefined],
    [{ 'retry-after': '1m30s' }, undefined],
    [{ 'retry-after': 'Infinity' }, undefined],
    [{ 'retry-after-ms': 'Infinity' }, undefined],
  ])('reads %j', async (headers, retryAfterMs) => {
    expect((await exchange(rateLimit(headers))).error).toMatchObject({ retryAfterMs });
  });

  test('reads a date', async () => {
    const { error } = await exchange(rateLimit({ 'retry-after': new Date(Date.now() + 30_000).toUTCString() }));

    expect((error as ProviderError).retryAfterMs).toBeGreaterThan(25_000);
    expect((error as ProviderError).retryAfterMs).toBeLessThanOrEqual(30_000);
  });

  test.each([
    ['53s', 53_000],
    ['0.25s', 250],
    ['soon', undefined],
    [7, undefined],
  ])('reads %j in the body, where Google says it', async (retryDelay, retryAfterMs) => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.Help' }, { retryDelay }];
    const json = { error: { code: 429, message: 'Quota exceeded', status: 'RESOURCE_EXHAUSTED', details } };

    for (const body of [json, [json]]) {
      expect((await exchange({ status: 429, json: body })).error).toMatchObject({ retryAfterMs, retryable: true });
    }
  });
});

test.each<[string, unknown, string]>([
  ['Gemini, in a list', [{ error: { code: 400, message: 'Not valid', status: 'INVALID_ARGUMENT' } }], 'Not valid'],
  ['Cerebras, flat', { message: 'Wrong key', type: 'invalid_request_error', code: 'wrong_api_key' }, 'Wrong key'],
  ['vLLM, flat', { object: 'error', message: 'Too long', type: 'BadRequestError', code: 400 }, 'Too long'],
  ['xAI, as a text', { code: 'invalid argument', error: 'Not a key' }, 'Not a key'],
  ['Ollama, as a text', { error: 'model "x" not found' }, 'model "x" not found'],
  ['Anthropic, with its type', { type: 'error', error: { type: 'overloaded', message: 'Busy' } }, 'Busy'],
  ['a framework, as a detail', { detail: 'Not Found' }, 'Not Found'],
  [
    'a framework, in its own words',
    { detail: [{ loc: ['model'], msg: 'required' }] },
    '[{"loc":["model"],"msg":"required"}]',
  ],
  ['a gateway, within another one', { error: { message: { error: { message: 'Deep' } } } }, 'Deep'],
  [
    'OpenRouter, for the server behind it',
    { error: { message: 'Provider returned error', metadata: { raw: '{"error":{"message":"Too many tokens"}}' } } },
    'Provider returned error (Too many tokens)',
  ],
  [
    'OpenRouter, where the server behind it sent no JSON',
    { error: { message: 'Provider returned error', metadata: { raw: 'Bad gateway', provider_name: 'X' } } },
    'Provider returned error (Bad gateway)',
  ],
  ['a proxy, as a JSON text', 'Down', 'Down'],
  ['nobody', { error: null }, '{"error":null}'],
])('an error in the words of %s is told', async (_title, json, reason) => {
  const { error } = await exchange({ status: 422, json });

  expect(error).toMatchObject({ message: `422 ${reason}`, status: 422, retryable: false, cause: { status: 422 } });
});

test('the status of an error outlives a body that is cut', async () => {
  const headers = { 'content-type': 'application/json' };

  const { error } = await exchange({ status: 503, chunks: ['{"error":{"mess'], end: 'drop', headers });

  expect(error).toMatchObject({ status: 503, retryable: true });
});

describe('an answer that is none', () => {
  const choices = (choice: object): Reply => ({ json: { choices: [choice] } });

  test.each<[string, Reply, RegExp]>([
    ['an empty body', { body: '' }, /is empty/],
    ['half a JSON text that is called none', { body: '{"choices":' }, /no whole JSON/],
    ['no choice', { json: { choices: [] } }, /no message but is \{"choices":\[\]\}/],
    [
      'what is wrong, in words of its own',
      { json: { choices: null, base_resp: { status_code: 1004, status_msg: 'Not logged in' } } },
      /"status_msg":"Not logged in"/,
    ],
    ['an error in a list', { json: [{ error: { message: 'Overloaded', code: 503 } }] }, /^Overloaded$/],
    ['no message', choices({ message: null, finish_reason: 'stop' }), /no message/],
    ['calls that were lost', choices({ message: { content: '' }, finish_reason: 'tool_calls' }), /calls none/],
    [
      'calls that were lost in a stream',
      { chunks: [chunk({ reasoning: 'I look.' }), chunk({ tool_calls: [{ index: 0 }] }), chunk({}, 'tool_calls')] },
      /calls none/,
    ],
    ['an error', { json: { error: { message: 'Upstream died', code: 502 } } }, /^Upstream died$/],
    ['an error that is a text', { json: { error: 'out of memory' } }, /^out of memory$/],
  ])('rejects, and another try may do: %s', async (_title, reply, message) => {
    const { error } = 'chunks' in reply ? await streamedExchange(reply) : await exchange(reply);

    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({ message: expect.stringMatching(message), retryable: true });
  });

  test.each<[string, Reply, RegExp]>([
    ['JSON that is no object', { body: '[1]' }, /no JSON object/],
    ['an error in the choice', choices({ error: { message: 'No', code: 400 } }), /^No$/],
  ])('rejects, and another try is no use: %s', async (_title, reply, message) => {
    const { error } = await exchange(reply);

    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({ message: expect.stringMatching(message), retryable: false });
  });
});

test('an answer that takes longer than the client waits rejects as something to try again', async () => {
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
    ['carries an error by its name', { chunks: [begun, 'event: error\ndata: {"message":"Died"}\n\n'], headers }],
    [
      'carries an error in place of choices',
      { chunks: [begun, { object: 'error', message: 'Died', code: 500 }], headers },
    ],
    ['says that it was broken off', { chunks: [begun, chunk({}, 'error')], headers }],
    ['carries an error in a choice', { chunks: [begun, { choices: [{ error: { code: 500 } }] }], headers }],
  ])('and %s rejects as something to try again', async (_title, reply) => {
    const { error, parts } = await streamedExchange(reply);

    expect(parts).toEqual([{ type: 'text-delta', text: 'Once upon' }]);
    expect(error).toMatchObject({ code: 'ERR_PROVIDER_FAILED', retryable: true, requestId: 'req_cut' });
  });

  test.each([
    ['beside its choices', { choices: [], error: { message: 'Too long', code: 400 } }],
    ['in place of them', { object: 'error', message: 'Too long', type: 'BadRequestError', code: 400 }],
    ['in place of them, without saying so', { code: '400', message: 'Too long', request_id: 'r' }],
    ['in a list', 'data: [{"error":{"code":400,"message":"Too long"}}]\n\n'],
  ])('tells what it says where an error stands %s', async (_title, error) => {
    const got = await streamedExchange({ chunks: [begun, error] });

    expect(got.error).toMatchObject({ message: 'Too long', status: 400, retryable: false });
  });

  test('in a list is read by a client that was given too', async () => {
    await using server = await startOpenAIServer([{ chunks: ['data: [{"error":{"code":503,"message":"Full"}}]\n\n'] }]);
    const client = new OpenAI({ baseURL: server.baseURL, apiKey: 'k' });

    const call = openai('m', { client }).generate({ ...hello, onPart: () => {} });

    await expect(call).rejects.toMatchObject({ message: 'Full', status: 503 });
  });

  test.each([
    ['MiniMax', { choices: null, base_resp: { status_msg: 'No balance' } }],
    ['Groq', { choices: [], x_groq: { id: 'r', error: 'No balance' } }],
  ])('tells what the server said in the words of %s', async (_title, event) => {
    const { error } = await streamedExchange({ chunks: [begun, event] });

    expect(error).toMatchObject({ message: expect.stringContaining('No balance'), retryable: true });
  });

  test('is none where the error beside an answer says nothing', async () => {
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

  test('for what was asked is not to be tried again', async () => {
    const wrong = { error: { message: 'Too long', type: 'invalid_request_error', code: null } };

    const { error } = await streamedExchange({ chunks: [wrong] });

    expect(error).toMatchObject({ message: 'Too long', status: undefined, retryable: false });
  });
});

describe('retries', () => {
  const soon = rateLimit({ 'retry-after-ms': '20' });

  test('are as many as the client was made with, where it was given', async () => {
    await using server = await startOpenAIServer([soon]);
    const client = new OpenAI({ baseURL: server.baseURL, apiKey: 'k', maxRetries: 1 });

    await expect(openai('m', { client }).generate(hello)).rejects.toMatchObject({ status: 429 });
    expect(server.requests).toHaveLength(2);
  });

  test.each<[string, Reply]>([
    ['in a stream', { chunks: [{ error: { code: 503, message: 'Full' } }] }],
    ['in a stream that has said who speaks', { chunks: [chunk({ role: 'assistant' }), { error: { code: 503 } }] }],
    ['in a whole body', { json: { error: { code: 503, message: 'Full' } } }],
  ])('follow an error with a status that stands %s, before the answer', async (_title, reply) => {
    const script = (body: RequestBody, index: number) => (index === 0 ? reply : replyWith({ text: 'Hi' }, body));

    const { response, parts, requests } = await streamedExchange(script, {}, { maxRetries: 1 });

    expect(response?.content).toEqual([{ type: 'text', text: 'Hi' }]);
    expect(parts).toEqual([{ type: 'text-delta', text: 'Hi' }]);
    expect(requests).toHaveLength(2);
  });

  test.each<[string, object]>([
    ['that comes after a part', { chunks: [chunk({ content: 'Hi' }), { error: { code: 503 } }] }],
    ['for what was asked', { chunks: [{ error: { code: 400 } }] }],
    ['without a status', { chunks: [{ error: { message: 'Died' } }] }],
  ])('do not follow an error inside a stream %s', async (_title, reply) => {
    const { error, requests } = await streamedExchange(reply as Reply, {}, { maxRetries: 1 });

    expect(error).toMatchObject({ code: 'ERR_PROVIDER_FAILED' });
    expect(requests).toHaveLength(1);
  });
});
