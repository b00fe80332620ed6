import { Agent, defineTool } from 'keelson';
import { anthropic } from 'keelson/anthropic';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { type ScriptedMessage, startAnthropicServer, stream, text, toolUse } from '../support/anthropic-server.js';
import type { Script } from '../support/openai-server.js';

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  input: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => String(a + b),
});

const twoCalls = [toolUse('toolu_1', 'add', { a: 1, b: 2 }), toolUse('toolu_2', 'add', { a: 3, b: 4 })];

/** Gives these answers in order. */
function inOrder(...answers: readonly ScriptedMessage[]): Script {
  return (_body, index) => stream(answers[index] ?? { content: [text('No answer is left.')] });
}

test('a thought goes back with its signature, and one that is hidden as it came', async () => {
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

test('what the provider ran itself is not run again, and goes back unchanged', async () => {
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

test('a last answer without tools tells the API of those that the conversation called', async () => {
  await using server = await startAnthropicServer(inOrder({ content: twoCalls }, { content: [text('Enough.')] }));
  const model = anthropic('claude-sonnet-5', { baseURL: server.baseURL });

  const { text: said } = await new Agent({ model, tools: [add] }).run('Sums', {
    maxTurns: { limit: 1, atLimit: 'answer' },
  });

  expect(said).toBe('Enough.');
  expect(server.requests[1]?.body).toMatchObject({ tools: [{ name: 'add' }], tool_choice: { type: 'none' } });
});
