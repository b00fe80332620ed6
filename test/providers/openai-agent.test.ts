import { readFileSync } from 'node:fs';
import { Agent, defineTool, ModelError } from 'keelson';
import { openai } from 'keelson/openai';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { chunk, replyWith, type ScriptedAnswer } from '../support/openai-reply.js';
import { type RequestBody, type Script, startOpenAIServer } from '../support/openai-server.js';

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  input: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => String(a + b),
});

const call = (id: string, text: string) => ({ id, name: 'add', arguments: text });

/** Gives these answers in order, streamed where the request asks for it. */
function inOrder(...answers: readonly ScriptedAnswer[]): Script {
  return (body, index) => replyWith(answers[index] ?? { text: 'No answer is left.' }, body);
}

/** The messages of a request that came after the user's. */
function added({ messages }: RequestBody): unknown {
  return messages.slice(messages.findIndex(({ role }) => role === 'user') + 1);
}

test('an agent runs tools in parallel and answers, and streams the same', async () => {
  const toolCalls = [call('call_1', '{"a":1,"b":2}'), call('call_2', '{"a":3,"b":4}')];
  const answers = [{ toolCalls }, { text: 'Three and seven.' }];
  await using server = await startOpenAIServer(inOrder(...answers, ...answers));
  const model = openai('gpt-5-mini', { baseURL: server.baseURL });
  const agent = new Agent({ model, tools: [add], instructions: 'Add.' });

  const result = await agent.run('Sums, please');
  const stream = agent.stream('Sums, please');
  let text = '';
  for await (const event of stream) if (event.type === 'text-delta') text += event.text;
  const streamed = await stream.result;

  expect([result.text, streamed.text, text]).toEqual(Array(3).fill('Three and seven.'));
  expect(streamed.messages).toEqual(result.messages);
  expect(result.usage).toMatchObject({ inputTokens: 24, outputTokens: 10, totalTokens: 34 });
  const second = server.requests[1]?.body as RequestBody;
  expect(second.messages[0]).toEqual({ role: 'system', content: 'Add.' });
  expect(added(second)).toEqual([
    {
      role: 'assistant',
      content: null,
      tool_calls: toolCalls.map(({ id, name, arguments: text }) => ({
        id,
        type: 'function',
        function: { name, arguments: text },
      })),
    },
    { role: 'tool', tool_call_id: 'call_1', content: '3' },
    { role: 'tool', tool_call_id: 'call_2', content: '7' },
  ]);
  expect(server.requests.map(({ body }) => body.stream)).toEqual([undefined, undefined, true, true]);
});

test('the model is told of arguments that are no JSON, or do not fit, and may call again', async () => {
  const bad = { toolCalls: [call('call_1', '{"a":1,'), call('call_2', '{"a":"x","b":2}')] };
  await using server = await startOpenAIServer(
    inOrder(bad, { toolCalls: [call('call_3', '{"a":1,"b":2}')] }, { text: 'Three.' }),
  );
  const agent = new Agent({ model: openai('m', { baseURL: server.baseURL }), tools: [add] });

  const { text } = await agent.run('One and two?');

  expect(text).toBe('Three.');
  expect(added(server.requests[1]?.body as RequestBody)).toMatchObject([
    { tool_calls: [{ function: { arguments: JSON.stringify({ invalid_json: '{"a":1,' }) } }, { id: 'call_2' }] },
    { tool_call_id: 'call_1', content: expect.stringMatching(/^Error/) },
    { tool_call_id: 'call_2', content: expect.stringMatching(/^Error/) },
  ]);
});

test('reasoning that came before a tool call goes back with it', async () => {
  const sample = readFileSync(new URL('../fixtures/openai/deepseek-tool-call.sse', import.meta.url), 'utf8');
  await using server = await startOpenAIServer((body, index) =>
    index === 0 ? { chunks: [sample], end: 'silent' } : replyWith({ text: 'Today.' }, body),
  );
  const getDate = defineTool({
    name: 'get_date',
    description: 'Today.',
    input: z.object({}),
    execute: () => '2026-01-01',
  });
  const agent = new Agent({ model: openai('deepseek-reasoner', { baseURL: server.baseURL }), tools: [getDate] });

  const { result } = agent.stream('When?');
  await result;

  expect(added(server.requests[1]?.body as RequestBody)).toMatchObject([
    { role: 'assistant', content: null, reasoning_content: '先查日期', tool_calls: [{ id: 'call_00_kw' }] },
    { role: 'tool', content: '2026-01-01' },
  ]);
});

test('an answer has the shape that was asked for', async () => {
  await using server = await startOpenAIServer(inOrder({ text: '{"sum":3}' }));
  const agent = new Agent({ model: openai('m', { baseURL: server.baseURL }) });

  const { output } = await agent.run('One and two?', { output: z.object({ sum: z.number() }) });

  expect(output).toEqual({ sum: 3 });
  expect(server.requests[0]?.body).toMatchObject({
    response_format: { type: 'json_schema', json_schema: { name: 'output', schema: { required: ['sum'] } } },
  });
});

test('a call that fails ends the run with a ModelError that keeps status, wait and what was done', async () => {
  const limited = { status: 429, headers: { 'retry-after-ms': '5' }, json: { error: { message: 'Slow down' } } };
  await using server = await startOpenAIServer((body, index) =>
    index === 0 ? replyWith({ toolCalls: [call('call_1', '{"a":1,"b":2}')] }, body) : limited,
  );
  const agent = new Agent({ model: openai('m', { baseURL: server.baseURL, maxRetries: 1 }), tools: [add] });

  const error = await agent.run('One and two?').catch((thrown: unknown) => thrown);

  expect(error).toBeInstanceOf(ModelError);
  expect(error).toMatchObject({
    status: 429,
    retryable: true,
    retryAfterMs: 5,
    cause: { code: 'ERR_PROVIDER_FAILED' },
  });
  expect((error as ModelError).messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  expect(server.requests).toHaveLength(3);
});

test('an abort ends the run, and the request with it', async () => {
  await using server = await startOpenAIServer([{ chunks: [chunk({ content: 'Once upon' })], end: 'hang' }]);
  const agent = new Agent({ model: openai('m', { baseURL: server.baseURL }) });

  for await (const event of agent.stream('A story')) if (event.type === 'text-delta') break;

  expect(await server.requests[0]?.closedEarly).toBe(true);
});
