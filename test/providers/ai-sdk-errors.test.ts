import { createOpenAI as createOpenAIv2 } from 'ai-sdk-openai-v2';
import { createOpenAI } from 'ai-sdk-openai-v3';
import { type AiSdkModel, aiSdk, ProviderError } from 'keelson/ai-sdk';
import { describe, expect, test } from 'vitest';
import { OptionInvalidError } from '../../src/errors.js';
import { call, scriptedModel } from '../support/ai-sdk-model.js';
import { type Reply, startOpenAIServer } from '../support/openai-server.js';

const hello = { messages: [{ role: 'user', content: 'Hello' } as const], tools: [] };

/** What a call of a real provider rejects with. */
async function failure(reply: Reply): Promise<unknown> {
  await using server = await startOpenAIServer([reply]);
  const model = createOpenAI({ baseURL: server.baseURL, apiKey: 'k' }).chat('m');
  return await aiSdk(model, { maxRetries: 0 })
    .generate(hello)
    .catch((thrown: unknown) => thrown);
}

describe('a status that is an error', () => {
  test.each<[Reply, string]>([
    [{ status: 500, body: 'Bad gateway' }, '500 Bad gateway'],
    [{ status: 500, json: { detail: 'Told so' } }, '500 Told so'],
    [{ status: 500, body: '' }, '500 Internal Server Error'],
  ])('tells what the server said in its own way: %j', async (reply, message) => {
    expect(await failure(reply)).toMatchObject({ message });
  });
});

describe('an answer that is none', () => {
  test.each<[string, Reply, boolean]>([
    ['another JSON', { json: { hello: 'world' } }, false],
    ['an error in a list', { json: [{ error: { message: 'Full', code: 503 } }] }, true],
    ['an error for what was asked', { json: { error: { message: 'Too long', code: 400 } } }, false],
  ])('%s may be asked for again: %s', async (_title, reply, retryable) => {
    const error = await failure(reply);

    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({ retryable });
  });

  test('an error that is of no call is told as it is, and not tried again', async () => {
    const model = scriptedModel('v3', [new Error("'topK' functionality not supported.")]);

    const { error } = await call(model, {}, { maxRetries: 2 });

    expect(error).toMatchObject({ retryable: false, message: "'topK' functionality not supported." });
    expect(model.calls).toHaveLength(1);
  });
});

describe('an option', () => {
  const model = scriptedModel('v3', []);

  test.each([
    ['openai/gpt-5', /the name "openai\/gpt-5".*openai\('gpt-5'\)/],
    [undefined, /undefined/],
    [createOpenAI({ apiKey: 'k' }).embedding('m'), /cannot generate/],
    [{ ...model, specificationVersion: 'v1' }, /"v1".*v2, v3 and v4/],
    [{ ...model, specificationVersion: 'v9' }, /"v9"/],
  ])('`model` that is none is refused: %#', (given, message) => {
    expect(() => aiSdk(given as AiSdkModel)).toThrow(OptionInvalidError);
    expect(() => aiSdk(given as AiSdkModel)).toThrow(message);
  });

  test.each([
    [{ retries: 1 }, /`retries`.*there are headers, maxRetries, providerTools, download/],
    [null, /options/],
    [{ maxRetries: -1 }, /maxRetries/],
    [{ maxRetries: 0.5 }, /maxRetries/],
    [{ download: true }, /download/],
    [{ providerTools: { f: { execute() {} } } }, /"f".*no id/],
  ])('that is wrong is refused: %j', (options, message) => {
    expect(() => aiSdk(model, options as never)).toThrow(OptionInvalidError);
    expect(() => aiSdk(model, options as never)).toThrow(message);
  });

  test('`model` is any that a provider makes', () => {
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
