import { type OpenAIClient, openai } from 'keelson/openai';
import { OpenAI } from 'openai';
import { describe, expect, test } from 'vitest';
import type { ModelPart, ModelRequest } from '../../../../src/model/model.js';
import { hello, sentBody, streamedExchange } from '../../../support/providers/openai-exchange.js';
import { chunk, completionOf, replyWith } from '../../../support/providers/openai-reply.js';
import { type RequestBody, startOpenAIServer } from '../../../support/providers/openai-server.js';

const add = {
  name: 'add',
  description: 'Adds two numbers.',
  inputSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
};

interface SentTools {
  readonly tools: readonly { readonly function: { readonly parameters: unknown } }[];
}

/** A client that does not come from the official package, and records its requests. */
function fakeClient(): OpenAIClient & { readonly asked: { body: object; options: object | undefined }[] } {
  const asked: { body: object; options: object | undefined }[] = [];
  const create = (body: object, options?: object) => {
    asked.push({ body, options });
    return Promise.resolve(completionOf({ text: 'Hi' }));
  };
  return { asked, chat: { completions: { create } } };
}

async function askedOfOpenAI(request: Partial<ModelRequest>): Promise<object | undefined> {
  const client = fakeClient();
  await openai('gpt-5-mini', { client }).generate({ ...hello, ...request });
  return client.asked[0]?.body;
}

describe('settings', () => {
  test('sends no settings fields without settings', async () => {
    const body = await sentBody({ settings: { temperature: undefined }, toolChoice: 'required' });

    expect(body).toEqual({ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Hello' }] });
  });

  test('sends every setting in its field', async () => {
    const body = await askedOfOpenAI({
      settings: {
        temperature: 0,
        topP: 0.9,
        maxOutputTokens: 100,
        stopSequences: ['END'],
        seed: 7,
        presencePenalty: 0.1,
        frequencyPenalty: -0.1,
        reasoningEffort: 'minimal',
      },
    });

    expect(body).toEqual({
      model: 'gpt-5-mini',
      messages: [{ role: 'user', content: 'Hello' }],
      temperature: 0,
      top_p: 0.9,
      max_completion_tokens: 100,
      stop: ['END'],
      seed: 7,
      presence_penalty: 0.1,
      frequency_penalty: -0.1,
      reasoning_effort: 'minimal',
    });
  });

  test('sends max_tokens to other servers, unless the option names the field', async () => {
    const settings = { maxOutputTokens: 100 };

    expect(await sentBody({ settings })).toHaveProperty('max_tokens', 100);
    const told = await sentBody({ settings }, { maxTokensField: 'max_completion_tokens' });
    expect(told).toHaveProperty('max_completion_tokens', 100);
    expect(told).not.toHaveProperty('max_tokens');
  });

  test.each([
    ['https://x.openai.azure.com/openai/v1', 'max_completion_tokens'],
    ['https://x.cognitiveservices.azure.com/openai', 'max_completion_tokens'],
    ['https://x.services.ai.azure.com/openai/v1/', 'max_completion_tokens'],
    ['https://x.services.ai.azure.com/models', 'max_tokens'],
    ['https://x.example.com/y.openai.azure.com/openai/v1', 'max_tokens'],
    ['nowhere', 'max_tokens'],
  ])('recognizes Azure by its URLs: %s gets %s', async (baseURL, field) => {
    const client = { ...fakeClient(), baseURL };

    await openai('gpt-5-mini', { client }).generate({ ...hello, settings: { maxOutputTokens: 100 } });

    expect(client.asked[0]?.body).toHaveProperty(field, 100);
  });

  test('lets provider options override fields, and removes a field set to undefined', async () => {
    const providerOptions = { openai: { temperature: 1, seed: undefined, top_k: 20, stream: true }, other: { a: 1 } };

    const body = await sentBody({ settings: { temperature: 0, seed: 1, providerOptions } });

    expect(body).toEqual({ model: 'gpt-5-mini', messages: expect.anything(), temperature: 1, top_k: 20 });
  });

  test('requests a stream with its usage only if there is a listener', async () => {
    const streamed = await streamedExchange((body) => replyWith({ text: 'Hi' }, body));

    expect(streamed.requests[0]?.body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
    expect(await sentBody({})).not.toHaveProperty('stream');
  });
});

describe('tools', () => {
  test('sends empty properties for a tool without arguments, which OpenAI requires', async () => {
    const inputSchema = { type: 'object', additionalProperties: false };

    const body = await sentBody({ tools: [{ ...add, inputSchema }] });

    const parameters = { ...inputSchema, properties: {} };
    expect(body).toMatchObject({ tools: [{ function: { name: 'add', parameters } }] });
  });

  test('sends Moonshot no type beside anyOf and no items array, at any depth', async () => {
    const kind = { anyOf: [{ enum: ['a'] }, { type: 'null' }, { $ref: '#/$defs/b' }], description: 'Which.' };
    const inputSchema = {
      type: 'object',
      properties: {
        type: { type: ['string', 'null'], ...kind },
        items: { type: 'array', items: [{ type: 'number' }, { ...kind, type: 'string' }], default: { items: [1] } },
        anyOf: { type: 'array', items: { type: 'string' } },
      },
      $defs: { b: { type: 'string' } },
    };
    const tools = [{ name: 'pick', description: 'Picks.', inputSchema }];
    const [moonshot, other] = await Promise.all(
      ['moonshotai/kimi-k2.5', 'qwen3'].map((modelId) => sentBody({ tools }, { modelId })),
    );

    const moved = (type: unknown) => ({ ...kind, anyOf: [{ type, enum: ['a'] }, ...kind.anyOf.slice(1)] });
    const { items, ...array } = inputSchema.properties.items;
    const properties = {
      type: moved(['string', 'null']),
      items: { ...array, prefixItems: [{ type: 'number' }, moved('string')], items: {} },
      anyOf: inputSchema.properties.anyOf,
    };
    expect((moonshot as SentTools).tools[0]?.function.parameters).toEqual({ ...inputSchema, properties });
    const tuple = { ...array, prefixItems: items, items: {} };
    expect((other as SentTools).tools[0]?.function.parameters).toEqual({
      ...inputSchema,
      properties: { ...inputSchema.properties, items: tuple },
    });
  });
});

describe('a conversation with messages of another server', () => {
  const long = `call_${'x'.repeat(60)}`;
  const made = 'call_made_short_1';
  const called = (id: string, name: string) => ({ type: 'tool-call' as const, id, name, input: {} });
  const result = (id: string) => ({ type: 'tool-result' as const, id, name: 'add', content: '3' });
  const messages = [
    { role: 'user' as const, content: 'Add' },
    {
      role: 'assistant' as const,
      content: [called(`${long}1`, 'add'), called(`${long}2`, 'ns.add<|x|>'), called('c', 'add')],
    },
    { role: 'tool' as const, content: [result(`${long}1`), result(`${long}2`), result('c')] },
  ];
  const sent = (ids: readonly string[], name: string) => [
    { role: 'user' },
    { tool_calls: [{ id: ids[0], function: { name: 'add' } }, { id: ids[1], function: { name } }, { id: ids[2] }] },
    ...ids.map((id) => ({ role: 'tool', tool_call_id: id, content: '3' })),
  ];

  test('has ids and names that OpenAI accepts, each result with the id of its call', async () => {
    const ids = [made, 'call_made_short_2', 'c'];

    expect(await askedOfOpenAI({ messages })).toMatchObject({ messages: sent(ids, 'ns_add__x__') });
  });

  test('never pairs a call with the result of another call, for any ids', async () => {
    const last = { role: 'assistant' as const, content: [called(made, 'add')] };
    const results = { role: 'tool' as const, content: [result(made)] };
    const body = await askedOfOpenAI({ messages: [...messages, last, results] });

    expect((body as { messages: unknown }).messages).toMatchObject([
      ...sent([made, 'call_made_short_2', 'c'], 'ns_add__x__'),
      { tool_calls: [{ id: 'call_made_short_3' }] },
      { tool_call_id: 'call_made_short_3' },
    ]);
  });

  test.each([
    ['https://api.deepseek.com/v1', 'deepseek-v4-pro', '(none)'],
    ['https://api.moonshot.ai/v1', 'kimi-k2.5', '(none)'],
    ['https://api.moonshot.ai/v1', 'moonshot-v1-8k', undefined],
    ['https://openrouter.ai/api/v1', 'deepseek/deepseek-v4-pro', undefined],
  ])('has reasoning beside each call at %s for %s: %s', async (baseURL, modelId, thought) => {
    const client = { ...fakeClient(), baseURL };
    const openaiPart = { model: modelId, field: 'reasoning_content' };
    const own = { type: 'reasoning' as const, text: 'Add.', providerMetadata: { openai: openaiPart } };
    const last = { role: 'assistant' as const, content: [own, called('d', 'add')] };

    await openai(modelId, { client }).generate({ ...hello, messages: [...messages, last] });

    const body = client.asked[0]?.body as RequestBody | undefined;
    expect(body?.messages.map(({ reasoning_content }) => reasoning_content)).toEqual([
      undefined,
      thought,
      undefined,
      undefined,
      undefined,
      'Add.',
    ]);
  });

  test('is sent unchanged to other servers, whose ids may have a meaning', async () => {
    expect(await sentBody({ messages })).toMatchObject({
      messages: sent([`${long}1`, `${long}2`, 'c'], 'ns.add<|x|>'),
    });
  });
});

describe('output', () => {
  const number = { type: 'number', minimum: 0 };
  const closed = {
    type: 'object',
    properties: { a: number, b: { type: 'array', items: { anyOf: [number, { type: 'null' }] } } },
    required: ['a', 'b'],
    additionalProperties: false,
  };
  const format = (schema: object, rest: object = {}) => ({
    type: 'json_schema',
    json_schema: { name: 'output', schema, ...rest },
  });

  test('sends a schema in strict mode if OpenAI supports all of it', async () => {
    expect(await askedOfOpenAI({ output: { schema: closed } })).toMatchObject({
      response_format: format(closed, { strict: true }),
    });
  });

  test.each([
    ['an open object', { ...closed, additionalProperties: undefined }],
    ['an optional property', { ...closed, required: ['a'] }],
    ['a keyword unknown to strict mode', { ...closed, properties: { ...closed.properties, a: { format: 'uri' } } }],
    ['a nested open object', { ...closed, properties: { ...closed.properties, a: { type: 'object' } } }],
  ])('does not use strict mode for a schema with %s', async (_title, schema) => {
    const body = (await askedOfOpenAI({ output: { schema } })) as { response_format: unknown };

    expect(body.response_format).toEqual(format(schema));
  });

  test('removes $schema from output and tool schemas, since Gemini refuses it', async () => {
    const $schema = 'https://json-schema.org/draft/2020-12/schema';
    const tools = [{ ...add, inputSchema: { $schema, ...closed } }];

    expect(await askedOfOpenAI({ output: { schema: { $schema, ...closed } }, tools })).toMatchObject({
      response_format: { json_schema: { schema: closed, strict: true } },
      tools: [{ function: { parameters: closed } }],
    });
    const body = JSON.stringify(await sentBody({ output: { schema: { $schema, ...closed } }, tools }));
    expect(body).not.toContain('$schema');
  });

  test('does not send strict to other servers', async () => {
    expect(await sentBody({ output: { schema: closed } })).toMatchObject({ response_format: format(closed) });
  });
});

describe('options', () => {
  test('give the model its id and its provider', () => {
    expect(openai('gpt-5-mini')).toMatchObject({ id: 'gpt-5-mini', provider: 'openai' });
  });

  test.each([
    ['modelId', () => openai('')],
    ['options', () => openai('m', null as never)],
    ['options', () => openai('m', 'sk-key' as never)],
    ['maxRetries', () => openai('m', { maxRetries: -1 })],
    ['maxRetries', () => openai('m', { maxRetries: 1.5 })],
    ['baseURL', () => openai('m', { baseURL: 'localhost:11434' })],
    ['baseUrl', () => openai('m', { baseUrl: 'http://localhost:11434/v1' } as object)],
    ['client', () => openai('m', { client: fakeClient(), apiKey: 'k' })],
    ['client', () => openai('m', { client: fakeClient(), baseURL: 'http://localhost/v1' })],
  ])('are refused at once with an invalid %s', (option, make) => {
    expect(make).toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID', option }));
  });

  test('accept any client with the right methods, and turn off its own retries', async () => {
    const client = fakeClient();

    await openai('m', { client, headers: { 'x-team': 'blue' } }).generate(hello);

    expect(client.asked.map(({ options }) => options)).toMatchObject([
      { maxRetries: 0, headers: { 'x-team': 'blue' } },
    ]);
  });

  test('read the streams of an existing client through the client, so that its instrumentation sees them', async () => {
    await using server = await startOpenAIServer((body) => replyWith({ text: 'One two' }, body));
    const { chat, baseURL } = new OpenAI({ baseURL: server.baseURL, apiKey: 'k' });
    const seen: unknown[] = [];
    async function* watched(data: AsyncIterable<unknown>) {
      for await (const part of data) {
        seen.push(part);
        yield part;
      }
    }
    const create: OpenAIClient['chat']['completions']['create'] = (body, options) => {
      const answer = chat.completions.create(body as never, options);
      const withResponse = async () => {
        const { data, response } = await answer.withResponse();
        return { data: watched(data as unknown as AsyncIterable<unknown>), response };
      };
      return Object.assign(Promise.resolve(answer), { withResponse });
    };
    const client: OpenAIClient = { baseURL, chat: { completions: { create } } };

    const response = await openai('m', { client }).generate({ ...hello, onPart: () => {} });

    expect(response.content).toEqual([{ type: 'text', text: 'One two' }]);
    expect(seen).toHaveLength(5);
  });

  test('accept a client that returns a complete response instead of a stream', async () => {
    const parts: ModelPart[] = [];

    const response = await openai('m', { client: fakeClient() }).generate({
      ...hello,
      onPart: (part) => void parts.push(part),
    });

    expect(response).toMatchObject({ content: [{ type: 'text', text: 'Hi' }], finishReason: 'stop' });
    expect(parts).toEqual([{ type: 'text-delta', text: 'Hi' }]);
  });

  test('accept a client that streams without an HTTP response', async () => {
    async function* chunks() {
      yield* [chunk({ content: 'Hi' }), { error: { message: 'Gone', code: 503 } }];
    }
    const client = { chat: { completions: { create: async () => chunks() } } };
    const parts: ModelPart[] = [];

    const call = openai('m', { client }).generate({ ...hello, onPart: (part) => void parts.push(part) });

    await expect(call).rejects.toMatchObject({ message: 'Gone', status: 503, retryable: true });
    expect(parts).toEqual([{ type: 'text-delta', text: 'Hi' }]);
  });
});
