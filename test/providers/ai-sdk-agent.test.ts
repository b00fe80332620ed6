import { createOpenAI as createOpenAIv2 } from 'ai-sdk-openai-v2';
import { createOpenAI as createOpenAIv3 } from 'ai-sdk-openai-v3';
import { Agent, defineTool, ModelError } from 'keelson';
import { aiSdk } from 'keelson/ai-sdk';
import { describe, expect, test } from 'vitest';
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

const providers = [
  ['v2', (baseURL: string) => createOpenAIv2({ baseURL, apiKey: 'k' }).chat('gpt-5-mini')],
  ['v3', (baseURL: string) => createOpenAIv3({ baseURL, apiKey: 'k' }).chat('gpt-5-mini')],
] as const;

describe.each(providers)('a chat model of specification %s', (_version, make) => {
  test('runs tools in parallel and answers, and streams the same', async () => {
    const toolCalls = [call('call_1', '{"a":1,"b":2}'), call('call_2', '{"a":3,"b":4}')];
    const answers = [{ toolCalls }, { text: 'Three and seven.' }];
    await using server = await startOpenAIServer(inOrder(...answers, ...answers));
    const agent = new Agent({ model: aiSdk(make(server.baseURL)), tools: [add], instructions: 'Add.' });

    const result = await agent.run('Sums, please');
    const stream = agent.stream('Sums, please');
    let text = '';
    for await (const event of stream) if (event.type === 'text-delta') text += event.text;
    const streamed = await stream.result;

    expect([result.text, streamed.text, text]).toEqual(Array(3).fill('Three and seven.'));
    expect(streamed.messages).toEqual(result.messages);
    expect(result.usage).toMatchObject({ inputTokens: 24, outputTokens: 10, totalTokens: 34 });
    const second = server.requests[1]?.body as RequestBody;
    expect(second.messages.map(({ role }) => role)).toEqual(['developer', 'user', 'assistant', 'tool', 'tool']);
    expect(second.messages.slice(2)).toMatchObject([
      { tool_calls: toolCalls.map(({ id, name, arguments: text }) => ({ id, function: { name, arguments: text } })) },
      { role: 'tool', tool_call_id: 'call_1', content: '3' },
      { role: 'tool', tool_call_id: 'call_2', content: '7' },
    ]);
    expect(second.tools).toMatchObject([
      { type: 'function', function: { name: 'add', description: 'Adds two numbers.', parameters: { type: 'object' } } },
    ]);
    expect(server.requests.map(({ body }) => body.stream)).toEqual([undefined, undefined, true, true]);
  });

  test('is told of arguments that are no JSON, and may call again', async () => {
    const answers = [
      { toolCalls: [call('call_1', '{"a":1,')] },
      { toolCalls: [call('call_2', '{"a":1,"b":2}')] },
      { text: 'Three.' },
    ];
    await using server = await startOpenAIServer(inOrder(...answers));
    const agent = new Agent({ model: aiSdk(make(server.baseURL)), tools: [add] });

    const { text } = await agent.run('One and two?');

    expect(text).toBe('Three.');
    expect(server.requests[1]?.body.messages.slice(1)).toMatchObject([
      { tool_calls: [{ function: { arguments: JSON.stringify({ invalid_json: '{"a":1,' }) } }] },
      { tool_call_id: 'call_1', content: expect.stringMatching(/JSON/) },
    ]);
  });

  test.each(['length', 'content_filter'])(
    'whose answer was cut off (%s) has its calls not run',
    async (finishReason) => {
      const cut = { toolCalls: [call('call_1', '{"a":1,"b":2}')], finishReason };
      await using server = await startOpenAIServer(inOrder(cut, { text: 'Sorry.' }));
      const agent = new Agent({ model: aiSdk(make(server.baseURL)), tools: [add] });

      const { messages } = await agent.run('One and two?');

      expect(messages[2]?.content).toMatchObject([{ isError: true, content: expect.stringMatching(/not run/) }]);
    },
  );

  test('gives an answer of the shape that was asked for, also of one that OpenAI does not take as strict', async () => {
    await using server = await startOpenAIServer(inOrder({ text: '{"sum":3}' }, { text: '{"sum":3}' }));
    const agent = new Agent({ model: aiSdk(make(server.baseURL)) });

    const { output } = await agent.run('One and two?', { output: z.object({ sum: z.number() }) });
    await agent.run('One and two?', { output: z.object({ sum: z.number(), note: z.string().optional() }) });

    expect(output).toEqual({ sum: 3 });
    const formats = server.requests.map(({ body }) => body.response_format);
    expect(formats).toMatchObject([
      { type: 'json_schema', json_schema: { name: 'output', schema: { required: ['sum'] } } },
      { type: 'json_schema', json_schema: { strict: false } },
    ]);
  });

  test('that is limited is asked again when the server says, and the run keeps what was done', async () => {
    const limited = { status: 429, headers: { 'retry-after-ms': '5' }, json: { error: { message: 'Slow down' } } };
    await using server = await startOpenAIServer((body, index) =>
      index === 0 ? replyWith({ toolCalls: [call('call_1', '{"a":1,"b":2}')] }, body) : limited,
    );
    const agent = new Agent({ model: aiSdk(make(server.baseURL), { maxRetries: 1 }), tools: [add] });

    const error = await agent.run('One and two?').catch((thrown: unknown) => thrown);

    expect(error).toBeInstanceOf(ModelError);
    expect(error).toMatchObject({
      status: 429,
      retryable: true,
      retryAfterMs: 5,
      cause: { code: 'ERR_PROVIDER_FAILED', provider: 'openai', message: '429 Slow down' },
    });
    expect((error as ModelError).messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect(server.requests).toHaveLength(3);
  });

  test.each(['drop', 'silent', 'done'] as const)('whose stream is cut (%s) has given no answer', async (end) => {
    await using server = await startOpenAIServer([{ chunks: [chunk({ content: 'Once upon' })], end }]);
    const agent = new Agent({ model: aiSdk(make(server.baseURL)) });

    const error = await agent.stream('A story').result.catch((thrown: unknown) => thrown);

    expect(error).toMatchObject({ code: 'ERR_MODEL_FAILED', retryable: true, cause: { provider: 'openai' } });
    expect(server.requests).toHaveLength(1);
  });

  test('that is overloaded inside of its stream is asked again, unless it has spoken', async () => {
    const error = { error: { message: 'Overloaded', type: 'server_error', code: 'server_error' } };
    const silent = { chunks: [error] };
    const spoken = { chunks: [chunk({ content: 'Once' }), error] };
    const replies = [silent, replyWith({ text: 'Hi' }, { stream: true }), spoken];
    await using server = await startOpenAIServer(replies);
    const agent = new Agent({ model: aiSdk(make(server.baseURL), { maxRetries: 1 }) });

    const { text } = await agent.stream('Hello').result;
    const failure = await agent.stream('Hello').result.catch((thrown: unknown) => thrown);

    expect(text).toBe('Hi');
    expect(failure).toMatchObject({ retryable: true, status: 500, cause: { message: 'Overloaded' } });
    expect(server.requests).toHaveLength(3);
  });

  test('whose run is aborted closes its request', async () => {
    await using server = await startOpenAIServer([{ chunks: [chunk({ content: 'Once upon' })], end: 'hang' }]);
    const agent = new Agent({ model: aiSdk(make(server.baseURL)) });

    for await (const event of agent.stream('A story')) if (event.type === 'text-delta') break;

    expect(await server.requests[0]?.closedEarly).toBe(true);
  });

  test('is sent the headers and the settings', async () => {
    await using server = await startOpenAIServer(inOrder({ text: 'Hi' }));
    const model = aiSdk(make(server.baseURL), { headers: { 'x-team': 'a' } });
    const settings = {
      maxOutputTokens: 9,
      seed: 1,
      reasoningEffort: 'low',
      providerOptions: { openai: { user: 'u' } },
    } as const;

    await new Agent({ model, settings }).run('Hello');

    expect(server.requests[0]?.headers['x-team']).toBe('a');
    const sent = { max_completion_tokens: 9, seed: 1, reasoning_effort: 'low', user: 'u' };
    expect(server.requests[0]?.body).toMatchObject(sent);
  });
});
