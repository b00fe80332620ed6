import { inspect } from 'node:util';
import { createOpenAI as createOpenAIv2 } from 'ai-sdk-openai-v2';
import { createOpenAI } from 'ai-sdk-openai-v3';
import { type AiSdkModel, aiSdk, ProviderError } from 'keelson/ai-sdk';
import { describe, expect, test } from 'vitest';
import { OptionInvalidError } from '../../../src/errors.js';
import { call, scriptedModel } from '../../support/providers/ai-sdk-model.js';
import { type Reply, startOpenAIServer } from '../../support/providers/openai-server.js';

const hello = { messages: [{ role: 'user', content: 'Hello' } as const], tools: [] };

/** Returns the error with which a call of a real provider rejects. */
async function failure(reply: Reply): Promise<unknown> {
  await using server = await startOpenAIServer([reply]);
  const model = createOpenAI({ baseURL: server.baseURL, apiKey: 'k' }).chat('m');
  return await aiSdk(model, { maxRetries: 0 })
    .generate(hello)
    .catch((thrown: unknown) => thrown);
}

describe('an error status', () => {
  test.each<[Reply, string]>([
    [{ status: 500, body: 'Bad gateway' }, '500 Bad gateway'],
    [{ status: 500, json: { detail: 'Told so' } }, '500 Told so'],
    [{ status: 500, body: '' }, '500 Internal Server Error'],
    [{ status: 500, json: { type: 'response.failed', response: { error: { message: 'Told so' } } } }, '500 Told so'],
  ])('has the message of the body %j', async (reply, message) => {
    expect(await failure(reply)).toMatchObject({ message });
  });
});

describe('an invalid response', () => {
  test.each<[string, Reply, boolean]>([
    ['unexpected JSON', { json: { hello: 'world' } }, false],
    ['an error in an array', { json: [{ error: { message: 'Full', code: 503 } }] }, true],
    ['an error about the request', { json: { error: { message: 'Too long', code: 400 } } }, false],
  ])('%s is retryable: %s', async (_title, reply, retryable) => {
    const error = await failure(reply);

    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({ retryable });
  });

  test('reports an error body with its own status', async () => {
    const error = { message: 'Overloaded', type: 'server_error', code: 503 };

    expect(await failure({ json: { error } })).toMatchObject({ message: 'Overloaded', status: 503, retryable: true });
  });

  test.each<[string, object, object]>([
    [
      'an error inside a chunk',
      { name: 'AI_TypeValidationError', value: { error: { message: 'Busy', code: 503 } } },
      { message: 'Busy', status: 503, retryable: true },
    ],
    ['a chunk of another form', { name: 'AI_TypeValidationError', value: {} }, { retryable: false }],
    [
      'an incomplete chunk',
      { name: 'AI_JSONParseError', cause: new SyntaxError('Unexpected end') },
      { retryable: true },
    ],
    ['an incomplete setting', { message: 'Incomplete settings: there is no region.' }, { retryable: false }],
    ['an incomplete frame', { message: 'Incomplete Amazon Bedrock event-stream frame' }, { retryable: true }],
    ['a response without a choice', { name: 'AI_InvalidResponseDataError' }, { retryable: true }],
    ['an empty body', { name: 'AI_APICallError', isRetryable: false, responseBody: '' }, { retryable: true }],
    [
      'a rate limit of the AI gateway',
      {
        statusCode: 429,
        cause: Object.assign(new Error(), { responseHeaders: { 'retry-after': '7', 'x-request-id': 'req_1' } }),
      },
      { status: 429, retryable: true, retryAfterMs: 7000, requestId: 'req_1' },
    ],
    [
      "an overload at the beginning of Anthropic's stream",
      { isRetryable: false, statusCode: 500, responseBody: '{"type":"api_error","message":"Oh"}' },
      { status: 500, retryable: true },
    ],
    [
      "a mistake at the beginning of Anthropic's stream",
      { isRetryable: false, statusCode: 500, responseBody: '{"type":"invalid_request_error","message":"Oh"}' },
      { status: 500, retryable: false },
    ],
  ])('%s keeps the message of the server and is retryable or not', async (_title, fields, expected) => {
    const thrown = Object.assign(new Error('Not by the schema'), fields);
    const streamed = await call(
      scriptedModel('v3', [[{ type: 'error', error: thrown }]]),
      {},
      { streamed: true, maxRetries: 0 },
    );
    const whole = await call(scriptedModel('v3', [thrown]), {}, { maxRetries: 0 });

    expect(streamed.error).toMatchObject({ code: 'ERR_PROVIDER_FAILED', ...expected, cause: thrown });
    expect(whole.error).toMatchObject({ code: 'ERR_PROVIDER_FAILED', ...expected, cause: thrown });
  });

  test.each<[object, object]>([
    [{}, { retryable: true }],
    [{ response: { body: { error: { message: 'Busy', code: 503 } } } }, { message: 'Busy', status: 503 }],
  ])('an empty response of Google with the body %j is an error', async (fields, expected) => {
    const empty = { content: [], finishReason: { unified: 'other', raw: undefined }, usage: {}, ...fields };

    expect((await call(scriptedModel('v3', [empty]), {}, { maxRetries: 0 })).error).toMatchObject(expected);
  });

  test('does not reveal an invalid header value, even inside a wrapped error', async () => {
    const cause = new TypeError('Headers.append: "sk-secret\n" is an invalid header value.');
    const thrown = Object.assign(new Error(`Failed: ${cause.message}`), { statusCode: 500, cause });

    const { error } = await call(scriptedModel('v3', [thrown]), {}, { maxRetries: 0 });

    expect(error).toMatchObject({ code: 'ERR_PROVIDER_FAILED', retryable: false });
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('sk-secret');
  });

  test('shows an error that is its own cause only once', async () => {
    const thrown = Object.assign(new Error('Round'), { isRetryable: false });
    thrown.cause = thrown;

    expect((await call(scriptedModel('v3', [thrown]), {}, { maxRetries: 0 })).error).toMatchObject({
      message: 'Round',
    });
  });

  test('keeps the message of an error without a request, and does not retry it', async () => {
    const model = scriptedModel('v3', [new Error("'topK' functionality not supported.")]);

    const { error } = await call(model, {}, { maxRetries: 2 });

    expect(error).toMatchObject({ retryable: false, message: "'topK' functionality not supported." });
    expect(model.calls).toHaveLength(1);
  });
});

describe('an option', () => {
  const model = scriptedModel('v3', []);

  test.each([
    ['openai/gpt-5', /openai\('gpt-5'\).*got "openai\/gpt-5"$/],
    [undefined, /undefined/],
    [createOpenAI({ apiKey: 'k' }).embedding('m'), /`model\.doGenerate` must be a function, got undefined/],
    [{ ...model, specificationVersion: 'v1' }, /`model\.specificationVersion` must be 'v2', 'v3' or 'v4', got "v1"/],
    [{ ...model, specificationVersion: 'v9' }, /"v9"/],
  ])('`model` with an invalid value is refused: %#', (given, message) => {
    expect(() => aiSdk(given as AiSdkModel)).toThrow(OptionInvalidError);
    expect(() => aiSdk(given as AiSdkModel)).toThrow(message);
  });

  test.each([
    [{ retries: 1 }, /unknown option `retries`; did you mean `maxRetries`\?/],
    [null, /options/],
    [{ maxRetries: -1 }, /maxRetries/],
    [{ maxRetries: 0.5 }, /maxRetries/],
    [{ download: true }, /download/],
    [{ providerTools: { f: { execute() {} } } }, /`providerTools\.f\.id` must be a string, got undefined/],
  ])('with an invalid value is refused: %j', (options, message) => {
    expect(() => aiSdk(model, options as never)).toThrow(OptionInvalidError);
    expect(() => aiSdk(model, options as never)).toThrow(message);
  });

  test('`model` accepts the models of all providers', () => {
    const models: readonly AiSdkModel[] = [
      createOpenAIv2({ apiKey: 'k' })('gpt-5'),
      createOpenAIv2({ apiKey: 'k' }).completion('m'),
      createOpenAI({ apiKey: 'k' })('gpt-5'),
    ];

    expect(models.map((each) => aiSdk(each).provider)).toEqual(['openai', 'openai', 'openai']);
    const maker = createOpenAI({ apiKey: 'k' });
    expect(aiSdk(maker('gpt-5'), { providerTools: { web_search: maker.tools.webSearch({}) } }).id).toBe('gpt-5');
  });
});

describe('logs of an error', () => {
  test.each<[string, Reply]>([
    ['a refused call', { status: 400, json: { error: { message: 'Bad' } } }],
    ['an unreadable response', { json: { hello: 'world' } }],
  ])('of %s do not show the messages of the request', async (_title, reply) => {
    await using server = await startOpenAIServer([reply]);
    const model = createOpenAI({ baseURL: server.baseURL, apiKey: 'k' }).chat('m');
    const error: unknown = await aiSdk(model, { maxRetries: 0 })
      .generate({ messages: [{ role: 'user', content: 'the door code is 4711' }], tools: [] })
      .catch((thrown: unknown) => thrown);

    expect(inspect(error, { depth: 9 })).not.toContain('4711');
    expect(error).toMatchObject({
      cause: { requestBodyValues: { messages: [{ content: expect.stringContaining('4711') }] } },
    });
  });

  test.each<[string, Reply]>([
    ['a response of another form', { json: { choices: [{ message: { content: 'the door code is 4711' } }] } }],
    ['a response that is cut off', { status: 200, body: '{"choices":[{"message":{"content":"4711' }],
    ['a refused call with data', { status: 400, json: { error: { message: 'Bad', param: '4711' } } }],
  ])('of %s do not show the response', async (_title, reply) => {
    const error = await failure(reply);

    expect(error).toBeInstanceOf(ProviderError);
    expect(shown(error)).not.toContain('4711');
    const { cause } = error as { readonly cause: Error };
    const { text, value, data, responseBody } = cause as unknown as Record<string, unknown>;
    expect(JSON.stringify([text, value, data, responseBody])).toContain('4711');
  });

  test.each([
    [
      'a validation in a chunk',
      'AI_TypeValidationError',
      'Type validation failed: Value: {"a":"4711"}.\nError message: x',
    ],
    ['a validation with a context', 'AI_TypeValidationError', 'Type validation failed for a (b): Value: "4711".'],
    ['invalid response data', 'AI_InvalidResponseDataError', 'Invalid response data: {"a":"4711"}.'],
    ['a syntax error', 'SyntaxError', 'Unexpected token 4, "4711" is not valid JSON'],
  ])('of %s do not show the response, also inside another error', async (_title, name, message) => {
    const inner = Object.assign(new RangeError(message), { name, value: '4711' });
    const cause = Object.assign(new AggregateError([inner], 'all failed'), { cause: inner });
    const { error } = await call(scriptedModel('v3', [cause]), hello);

    expect(shown(error)).not.toContain('4711');
    expect(inner).toMatchObject({ name, value: '4711' });
  });
});

function shown(error: unknown): string {
  return [inspect(error, { depth: 9 }), JSON.stringify(error), (error as Error).message].join();
}
