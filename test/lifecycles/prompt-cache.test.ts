import { Agent, type Model, type UserMessage } from 'keelson';
import { aiSdk } from 'keelson/ai-sdk';
import { anthropic } from 'keelson/anthropic';
import { promptCache } from 'keelson/lifecycles';
import { openai } from 'keelson/openai';
import { OpenAI } from 'openai';
import { describe, expect, test } from 'vitest';
import { echo } from '../support/agent/sample-tools.js';
import { scriptedModel } from '../support/providers/ai-sdk-model.js';
import { startAnthropicServer, stream, text } from '../support/providers/anthropic-server.js';
import { completionOf } from '../support/providers/openai-reply.js';
import { type RecordedRequest, startOpenAIServer } from '../support/providers/openai-server.js';

const mark = { type: 'ephemeral' };

async function run(model: Model, ttl?: '1h', settings = {}) {
  const agent = new Agent({
    model,
    settings,
    instructions: 'Be brief.',
    tools: [echo],
    lifecycle: [promptCache({ ttl })],
  });
  await agent.run('Hello');
}

test('marks the end of the instructions, of the tools and of the conversation for Anthropic', async () => {
  await using server = await startAnthropicServer(() => stream({ content: [text('Hi.')] }));

  await run(anthropic('claude-sonnet-5', { baseURL: server.baseURL }));

  const { system, tools, messages } = (server.requests[0] as RecordedRequest).body;
  expect(system).toEqual([{ type: 'text', text: 'Be brief.', cache_control: mark }]);
  expect(tools).toMatchObject([{ name: 'echo', cache_control: mark }]);
  expect(messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'Hello', cache_control: mark }] }]);
});

test('sends at most four marks, and keeps the marks of the application', async () => {
  await using server = await startAnthropicServer(() => stream({ content: [text('Hi.')] }));
  const own = { type: 'text' as const, text: 'Long.', providerMetadata: { anthropic: { cache_control: mark } } };
  const model = anthropic('claude-sonnet-5', { baseURL: server.baseURL });
  const agent = new Agent({ model, instructions: 'Be brief.', tools: [echo], lifecycle: [promptCache({ ttl: '1h' })] });

  await agent.run({ role: 'user', content: [own, own, own, { type: 'text', text: 'Go.' }] });

  const { body } = server.requests[0] ?? {};
  expect(JSON.stringify(body).match(/cache_control/g)).toHaveLength(4);
  expect(body?.messages[0]?.content).toMatchObject([{}, {}, {}, { cache_control: { type: 'ephemeral', ttl: '1h' } }]);
});

test('marks the prompt for the providers of the AI SDK that want marks', async () => {
  const result = { content: [{ type: 'text', text: 'Hi.' }], finishReason: { unified: 'stop' }, usage: {} };
  const claude = scriptedModel('v3', [result], { provider: 'anthropic.messages' });
  const bedrock = scriptedModel('v3', [result], { provider: 'amazon-bedrock', modelId: 'anthropic.claude-sonnet-5' });
  const google = scriptedModel('v3', [result], { provider: 'google.generative-ai' });

  for (const model of [claude, bedrock, google]) await run(aiSdk(model));

  const cacheControl = { anthropic: { cacheControl: mark } };
  const cachePoint = { bedrock: { cachePoint: { type: 'default' } } };
  expect(claude.calls[0]).toMatchObject({
    prompt: [{ providerOptions: cacheControl }, { providerOptions: cacheControl }],
    tools: [{ providerOptions: cacheControl }],
  });
  expect(bedrock.calls[0]).toMatchObject({
    prompt: [{ providerOptions: cachePoint }, { providerOptions: cachePoint }],
  });
  expect(JSON.stringify(google.calls[0])).not.toMatch(/cache/i);
});

test('changes no request of a provider that caches by itself', async () => {
  await using server = await startOpenAIServer(() => ({ json: completionOf({ text: 'Hi.' }) }));

  await run(openai('m', { baseURL: server.baseURL }));

  expect(JSON.stringify(server.requests[0]?.body)).not.toMatch(/cache/i);
});

describe('with chat completions', () => {
  const openRouter = 'https://openrouter.ai/api/v1';
  const dashScope = 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1';
  const call = { id: 'call_1', name: 'echo', arguments: '{"text":"a"}' };
  const marked = (text: string, cache: object = mark) => [{ type: 'text', text, cache_control: cache }];

  interface Sent {
    readonly ttl?: '1h';
    readonly input?: UserMessage;
  }

  /** Runs two turns with a service whose requests go to a local server. Returns the messages of both requests. */
  async function messagesSent(address: string, name: string, options: Sent = {}) {
    const { ttl, input = 'Hello' } = options;
    await using server = await startOpenAIServer((_body, index) => ({
      json: completionOf(index === 0 ? { toolCalls: [call] } : { text: 'Hi.' }),
    }));
    const reroute: typeof fetch = (url, init) => fetch(String(url).replace(address, server.baseURL), init);
    const client = new OpenAI({ baseURL: address, apiKey: 'k', fetch: reroute, maxRetries: 0 });
    const model = openai(name, { client, api: 'chat' });
    const agent = new Agent({ model, instructions: 'Be brief.', tools: [echo], lifecycle: [promptCache({ ttl })] });
    await agent.run(input);
    return server.requests.map(({ body }) => body.messages);
  }

  test.each([
    [openRouter, 'anthropic/claude-sonnet-5'],
    [openRouter, 'qwen/qwen3-max'],
    [dashScope, 'qwen3-coder-plus'],
    ['https://dashscope.aliyuncs.com/compatible-mode/v1', 'qwen-plus'],
    ['https://w1.cn-beijing.maas.aliyuncs.com/compatible-mode/v1', 'qwen-plus'],
  ])('%s gets marks at the end of the instructions and of the conversation for %s', async (address, model) => {
    const [first, second] = await messagesSent(address, model);

    expect(first).toEqual([
      { role: 'system', content: marked('Be brief.') },
      { role: 'user', content: marked('Hello') },
    ]);
    expect(second).toMatchObject([
      { role: 'system', content: marked('Be brief.') },
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: null },
      { role: 'tool', tool_call_id: 'call_1', content: marked('a') },
    ]);
  });

  test.each([
    [openRouter, 'openai/gpt-5'],
    [openRouter, 'google/gemini-3-pro'],
    ['https://openrouter.ai.example.com/v1', 'anthropic/claude-sonnet-5'],
    ['https://notdashscope.aliyuncs.com.example/v1', 'qwen-plus'],
    ['https://api.deepseek.com', 'deepseek-chat'],
  ])('%s gets no marks for %s', async (address, model) => {
    expect(JSON.stringify(await messagesSent(address, model))).not.toMatch(/cache/);
  });

  test('sends the time of an hour only to the provider that has a field for it', async () => {
    const [[claude] = []] = await messagesSent(openRouter, 'anthropic/claude-sonnet-5', { ttl: '1h' });
    const [[qwen] = []] = await messagesSent(openRouter, 'qwen/qwen3-max', { ttl: '1h' });
    const [[own] = []] = await messagesSent(dashScope, 'qwen3-max', { ttl: '1h' });

    expect(claude?.content).toEqual(marked('Be brief.', { type: 'ephemeral', ttl: '1h' }));
    expect([qwen?.content, own?.content]).toEqual([marked('Be brief.'), marked('Be brief.')]);
  });

  test('marks the last text before an image', async () => {
    const image = { type: 'image', image: 'AAAA', mediaType: 'image/png' } as const;
    const text = { type: 'text', text: 'Look.' } as const;

    const seen = (content: UserMessage['content']) =>
      messagesSent(dashScope, 'qwen3-vl-plus', { input: { role: 'user', content } });
    const [both] = await seen([text, image]);
    const [alone] = await seen([image]);

    expect(both?.[1]?.content).toEqual([...marked('Look.'), { type: 'image_url', image_url: expect.anything() }]);
    expect(JSON.stringify(alone?.[1])).not.toMatch(/cache/);
  });

  test.each([
    [0, 2],
    [2, 4],
    [3, 4],
    [4, 4],
  ])('with %d marks of the application, a request has %d marks', async (own, total) => {
    const providerMetadata = { openai: { fields: { cache_control: mark } } };
    const parts = Array.from({ length: own }, () => ({ type: 'text', text: 'Long.', providerMetadata }) as const);
    const content = [...parts, { type: 'text', text: 'Go.' } as const];

    const [first] = await messagesSent(dashScope, 'qwen3-max', { input: { role: 'user', content } });

    const sent = (first?.[1]?.content ?? []) as readonly unknown[];
    expect(JSON.stringify(first).match(/cache_control/g)).toHaveLength(total);
    expect(sent.slice(0, own)).toEqual(parts.flatMap(() => marked('Long.')));
  });
});
