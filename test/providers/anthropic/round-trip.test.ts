import { Agent, defineTool } from 'keelson';
import { anthropic } from 'keelson/anthropic';
import { compaction } from 'keelson/lifecycles';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  event,
  eventsOf,
  messageOf,
  type ScriptedMessage,
  startAnthropicServer,
  stream,
  text,
  toolUse,
} from '../../support/providers/anthropic-server.js';
import type { Script } from '../../support/providers/openai-server.js';

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  input: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => String(a + b),
});

const twoCalls = [toolUse('toolu_1', 'add', { a: 1, b: 2 }), toolUse('toolu_2', 'add', { a: 3, b: 4 })];

/** Replies with these messages in order. */
function inOrder(...answers: readonly ScriptedMessage[]): Script {
  return (_body, index) => stream(answers[index] ?? { content: [text('No answer is left.')] });
}

test('sends thinking back with its signature, and redacted thinking unchanged', async () => {
  const thoughts = [
    { type: 'thinking', thinking: 'One and two.', signature: 'EqQBCg==' },
    { type: 'redacted_thinking', data: 'EmwKAh==' },
  ];
  const said = [...thoughts, { ...toolUse('toolu_1', 'add', { a: 1, b: 2 }), caller: { type: 'direct' } }];
  await using server = await startAnthropicServer(inOrder({ content: said }, { content: [text('Three.')] }));
  const agent = new Agent({ model: anthropic('claude-sonnet-5', { baseURL: server.baseURL }), tools: [add] });
  const deltas: string[] = [];
  agent.on('reasoning-delta', ({ text: thought }) => void deltas.push(thought));

  await agent.stream('One and two?').result;

  expect(deltas.join('')).toBe('One and two.');
  expect(server.requests[1]?.body.messages[1]).toEqual({
    role: 'assistant',
    content: [...thoughts, toolUse('toolu_1', 'add', { a: 1, b: 2 })],
  });
});

test('does not execute server tool calls, and sends them back unchanged', async () => {
  const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'weather' } };
  const found = {
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: [
      { type: 'web_search_result', url: 'https://example.org', title: 'Weather', encrypted_content: 'EqgfCio=' },
    ],
  };
  const citation = {
    type: 'web_search_result_location',
    url: 'https://example.org',
    cited_text: 'Sunny',
    encrypted_index: 'Eo8=',
  };
  const cited = { type: 'text', text: 'It is sunny.', citations: [citation] };
  const said = [search, found, cited, toolUse('toolu_1', 'add', { a: 1, b: 2 })];
  await using server = await startAnthropicServer(inOrder({ content: said }, { content: [text('Done.')] }));
  const agent = new Agent({ model: anthropic('claude-sonnet-5', { baseURL: server.baseURL }), tools: [add] });

  const { messages } = await agent.run('Weather, and one and two?');

  expect(messages[1]?.content[0]).toMatchObject({ type: 'tool-call', name: 'web_search', providerExecuted: true });
  expect(server.requests[1]?.body.messages[1]).toEqual({ role: 'assistant', content: said });
});

test('sends stubs of the called tools with a final request without tools', async () => {
  await using server = await startAnthropicServer(inOrder({ content: twoCalls }, { content: [text('Enough.')] }));
  const model = anthropic('claude-sonnet-5', { baseURL: server.baseURL });

  const { text: said } = await new Agent({ model, tools: [add] }).run('Sums', {
    maxTurns: { limit: 1, atLimit: 'answer' },
  });

  expect(said).toBe('Enough.');
  expect(server.requests[1]?.body).toMatchObject({ tools: [{ name: 'add' }], tool_choice: { type: 'none' } });
});

describe('a turn that the API pauses', () => {
  const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'weather' } };
  const found = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] };
  const paused = { content: [text('Let me look.'), search], stopReason: 'pause_turn' };

  test('is continued and becomes one response', async () => {
    await using server = await startAnthropicServer(inOrder(paused, { content: [found, text('Sunny.')] }));
    const model = anthropic('claude-sonnet-5', { baseURL: server.baseURL });

    const { messages, turns, usage, finishReason } = await new Agent({ model }).run('Weather?');

    expect(server.requests[1]?.body.messages).toEqual([
      { role: 'user', content: [text('Weather?')] },
      { role: 'assistant', content: paused.content },
    ]);
    expect(messages.map(({ content }) => content)).toMatchObject([
      'Weather?',
      [text('Let me look.'), { id: 'srvtoolu_1' }, { id: 'srvtoolu_1', name: 'web_search' }, text('Sunny.')],
    ]);
    expect({ turns, finishReason }).toEqual({ turns: 1, finishReason: 'stop' });
    expect(usage).toMatchObject({ inputTokens: 24, outputTokens: 10, totalTokens: 34 });
  });

  test.each([true, false])('has the tokens of its last request in `contextTokens` (streamed: %s)', async (streamed) => {
    const usages = [
      { input_tokens: 1_000, output_tokens: 50 },
      { input_tokens: 1_100, output_tokens: 60 },
      { input_tokens: 200, cache_read_input_tokens: 1_000, output_tokens: 70 },
    ];
    const answers = usages.map((usage, at) => ({ ...(at < 2 ? paused : { content: [found, text('Sunny.')] }), usage }));
    await using server = await startAnthropicServer((_body, index) =>
      streamed ? stream(answers[index] ?? {}) : { json: messageOf(answers[index] ?? {}) },
    );
    const model = anthropic('claude-sonnet-5', { baseURL: server.baseURL });
    const messages = [{ role: 'user', content: 'Weather?' }] as const;

    const { usage } = await model.generate({ messages, tools: [], ...(streamed && { onPart: () => {} }) });

    expect(server.requests).toHaveLength(3);
    expect(usage).toMatchObject({ inputTokens: 3_300, outputTokens: 180, totalTokens: 3_480, contextTokens: 1_270 });
  });

  test('does not begin a compaction by the sum of its requests', async () => {
    const usage = { input_tokens: 600, output_tokens: 10 };
    const ended = { content: [found, toolUse('toolu_1', 'add', { a: 1, b: 2 })], usage };
    const answers = [{ ...paused, usage }, { ...paused, usage }, ended, { content: [text('Three.')], usage }];
    await using server = await startAnthropicServer(inOrder(...answers));
    const model = anthropic('claude-sonnet-5', { baseURL: server.baseURL });
    const lifecycle = [compaction({ maxTokens: 1_000, summarize: () => 'Sums.' })];

    const messages = ['Sums '.repeat(400), 'And now?'].map((content) => ({ role: 'user' as const, content }));

    const { text: said, decisions } = await new Agent({ model, tools: [add], lifecycle }).run('', { messages });

    expect(said).toBe('Three.');
    expect(decisions).toEqual([]);
  });

  test('is continued in its container', async () => {
    const [start = '', ...rest] = eventsOf({ content: [search, found] });
    const delta = { stop_reason: 'pause_turn', container: { id: 'container_1' } };
    const first = [start, ...rest.slice(0, -2), event({ type: 'message_delta', delta })];
    await using server = await startAnthropicServer((_body, index) =>
      index === 0 ? { chunks: first, end: 'silent' } : stream({ content: [text('Sunny.')] }),
    );
    const agent = new Agent({ model: anthropic('claude-sonnet-5', { baseURL: server.baseURL }) });

    const { history } = await agent.run('Weather?');
    await agent.run('And tomorrow?', { messages: history });

    expect(server.requests.map(({ body }) => body.container)).toEqual([undefined, 'container_1', undefined]);
    expect(server.requests[1]?.body.messages[1]).toEqual({ role: 'assistant', content: [search, found] });
  });

  test('too many times is returned incomplete', async () => {
    await using server = await startAnthropicServer([stream(paused)]);
    const model = anthropic('claude-sonnet-5', { baseURL: server.baseURL });

    expect((await new Agent({ model }).run('Weather?')).finishReason).toBe('other');
    expect(server.requests).toHaveLength(11);
  });
});

test('replaces the tool of the agent with the provider tool of the same name, and continues code execution in its container', async () => {
  const code = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'code_execution', input: { code: 'add(1, 2)' } };
  const caller = { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' };
  const called = { ...toolUse('toolu_1', 'add', { a: 1, b: 2 }), caller };
  const container = { id: 'container_1', expires_at: '2026-11-22T20:00:00Z' };
  const ended = { type: 'code_execution_tool_result', tool_use_id: 'srvtoolu_1', content: {} };
  const [start = '', ...rest] = eventsOf({ content: [code, called] });
  await using server = await startAnthropicServer((_body, index) => {
    const delta = { stop_reason: 'tool_use', container };
    const first = [start, ...rest.slice(0, -2), event({ type: 'message_delta', delta })];
    return index === 0 ? { chunks: first, end: 'silent' } : stream({ content: [ended, text('Three.')] });
  });
  const defined = { name: 'add', input_schema: { type: 'object' }, allowed_callers: ['code_execution_20260120'] };
  const model = anthropic('claude-sonnet-5', { baseURL: server.baseURL });
  const settings = { providerOptions: { anthropic: { tools: [defined], container: { skills: [] } } } };
  const agent = new Agent({ model, tools: [add], settings });

  const { history } = await agent.run('One and two?');
  await agent.run('Again', { messages: history });

  const bodies = server.requests.map(({ body }) => body);
  expect(bodies[0]?.tools).toEqual([defined]);
  expect(bodies.map((body) => body.container)).toEqual([
    { skills: [] },
    { id: 'container_1', skills: [] },
    { skills: [] },
  ]);
  expect(bodies[1]?.messages.slice(1)).toMatchObject([
    { role: 'assistant', content: [code, called] },
    { role: 'user', content: [{ tool_use_id: 'toolu_1', content: [text('3')] }] },
  ]);
  expect(bodies[2]?.messages.at(-2)?.content).toEqual([ended, text('Three.')]);
});

test('sends blocks that only the API understands back unchanged and in place', async () => {
  const summary = { type: 'compaction', content: 'They met.', encrypted_content: 'Eo8=' };
  const handover = { type: 'fallback', from: { model: 'claude-sonnet-5' }, to: { model: 'claude-opus-5' } };
  const begun = event({ type: 'content_block_start', index: 0, content_block: { type: 'compaction', content: null } });
  const pieces = [{ content: 'They ' }, { content: 'met.', encrypted_content: 'Eo8=' }].map((fields) =>
    event({ type: 'content_block_delta', index: 0, delta: { type: 'compaction_delta', ...fields } }),
  );
  const [start = '', ...rest] = eventsOf({ content: [handover, text('Hi')] });
  await using server = await startAnthropicServer([{ chunks: [start, begun, ...pieces, ...rest], end: 'silent' }]);
  const agent = new Agent({ model: anthropic('claude-sonnet-5', { baseURL: server.baseURL }) });

  const { history, text: said } = await agent.run('Hello');
  await agent.run('And?', { messages: history });

  expect(said).toBe('Hi');
  expect(server.requests[1]?.body.messages[1]?.content).toEqual([summary, handover, text('Hi')]);
});
