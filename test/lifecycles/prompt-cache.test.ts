import { aiSdk } from 'keelson/ai-sdk';
import { anthropic } from 'keelson/anthropic';
import { openai } from 'keelson/openai';
import { expect, test } from 'vitest';
import { Agent, type Model } from '../../src/index.js';
import { promptCache } from '../../src/lifecycles/lifecycles.js';
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
