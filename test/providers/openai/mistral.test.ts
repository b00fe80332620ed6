import { Agent, defineTool, type Message, toolResult } from 'keelson';
import { type OpenAIClient, openai } from 'keelson/openai';
import { describe, expect, test } from 'vitest';
import { exchange, hello, sentBody } from '../../support/providers/openai-exchange.js';
import { completionOf, replyWith } from '../../support/providers/openai-reply.js';
import { type Reply, type RequestBody, startOpenAIServer } from '../../support/providers/openai-server.js';

const modelId = 'mistralai/devstral-small-2507';

/** Starts a server that refuses the same messages as Mistral's models, with the same errors. */
function strict(body: RequestBody, index: number): Reply {
  const refused = (message: string): Reply => ({ status: 400, json: { object: 'error', message, code: '3230' } });
  for (const [at, { role, tool_call_id: id, tool_calls: calls = [] }] of body.messages.entries()) {
    const before = body.messages[at - 1]?.role;
    if (role === 'user' && before === 'tool') return refused(`Unexpected role 'user' after role 'tool'`);
    for (const each of [id, ...(calls as { id: string }[]).map((call) => call.id)]) {
      if (each !== undefined && !/^[a-zA-Z0-9]{9}$/.test(String(each))) return refused(`Tool call id was ${each}`);
    }
  }
  const toolCalls = [{ id: 'a1B2c3D4e', name: 'look', arguments: '{}' }];
  return replyWith(index === 0 ? { toolCalls } : { text: 'A red square.' }, body);
}

const look = defineTool({
  name: 'look',
  description: 'Takes a picture.',
  input: { type: 'object', properties: {} },
  execute: () => toolResult({ content: [{ type: 'image', image: 'iVBORw0KGgo=', mediaType: 'image/png' }] }),
});

test('sends an image from a tool to a model of Mistral', async () => {
  await using server = await startOpenAIServer(strict);
  const agent = new Agent({ model: openai(modelId, { baseURL: server.baseURL, maxRetries: 0 }), tools: [look] });

  expect((await agent.run('What is there?')).text).toBe('A red square.');
});

describe('a conversation with messages of another model', () => {
  const call = (id: string, name = 'look') => ({ type: 'tool-call' as const, id, name, input: {} });
  const result = (id: string) => ({ type: 'tool-result' as const, id, name: 'look', content: id });
  const ids = ['call_1', 'a1B2c3D4e', 'call00001', 'toolu_02'];
  const messages: Message[] = [
    { role: 'user', content: 'Look' },
    { role: 'assistant', content: [...ids.map((id) => call(id)), call('call_9', 'ns.look')] },
    { role: 'tool', content: [...ids, 'call_9'].map(result) },
    { role: 'user', content: 'Stop. What was there?' },
  ];

  test('is accepted by a model of Mistral, and every call keeps its own result', async () => {
    const { response, error, requests } = await exchange(strict, { messages }, { modelId });

    expect(error).toBeUndefined();
    expect(response?.content).toHaveLength(1);
    const sent = ['call00001', 'a1B2c3D4e', 'call00002', 'call00003', 'call00004'];
    expect(requests[0]?.body.messages).toMatchObject([
      { role: 'user' },
      { tool_calls: sent.map((id, at) => ({ id, function: { name: at === 4 ? 'ns_look' : 'look' } })) },
      ...sent.map((id, at) => ({ role: 'tool', tool_call_id: id, content: ids[at] ?? 'call_9' })),
      { role: 'assistant', content: expect.stringMatching(/./) },
      { role: 'user', content: 'Stop. What was there?' },
    ]);
  });

  test.each(['open-mixtral-8x22b', 'ministral-8b', 'magistral-medium', 'codestral-latest', 'pixtral-12b', 'voxtral'])(
    'is sent with Mistral ids to %s',
    async (name) => {
      expect((await exchange(strict, { messages }, { modelId: name })).error).toBeUndefined();
    },
  );

  test('is sent unchanged to other models', async () => {
    const body = await sentBody({ messages }, { modelId: 'qwen3-coder' });

    expect((body as RequestBody).messages).toMatchObject([{}, {}, ...ids.map((id) => ({ tool_call_id: id })), {}, {}]);
    expect((body as RequestBody).messages).toHaveLength(8);
  });
});

test.each([
  ['https://api.mistral.ai/v1', { random_seed: 7 }],
  ['https://mistral.ai.example.com/v1', { seed: 7, stream_options: { include_usage: true } }],
])('a request to %s has the fields that the server accepts', async (baseURL, fields) => {
  const bodies: object[] = [];
  const create = (body: object) => {
    bodies.push(body);
    return Promise.resolve(completionOf({ text: 'Hi' }));
  };
  const client: OpenAIClient = { baseURL, chat: { completions: { create } } };

  await openai('magistral-small', { client }).generate({ ...hello, settings: { seed: 7 }, onPart: () => {} });

  expect(bodies).toEqual([{ model: 'magistral-small', messages: expect.anything(), stream: true, ...fields }]);
});
