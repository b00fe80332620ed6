import { openai } from 'keelson/openai';
import { OpenAI } from 'openai';
import { describe, expect, test } from 'vitest';
import type { ToolCallPart } from '../../../../src/model/message.js';
import { hello, streamedExchange } from '../../../support/providers/openai-exchange.js';
import { chunk } from '../../../support/providers/openai-reply.js';
import { startOpenAIServer } from '../../../support/providers/openai-server.js';

const end = (reason = 'stop') => chunk({}, reason);
const fragment = (call: object) => chunk({ tool_calls: [call] });
const called = (name: string, text: string) => ({ name, arguments: text });

/** Returns the tool calls of a stream of these fragments. */
async function callsOf(...fragments: readonly object[]): Promise<readonly ToolCallPart[]> {
  const { response, error } = await streamedExchange({ chunks: [...fragments.map(fragment), end('tool_calls')] });
  if (error) throw error;
  return (response?.content ?? []).filter((part) => part.type === 'tool-call');
}

describe('deltas', () => {
  test('of reasoning count once if a server sends them in two fields', async () => {
    const both = { reasoning: 'Hm', reasoning_content: 'Hm' };

    const { response, parts } = await streamedExchange({ chunks: [chunk(both), chunk({ content: 'Hi' }), end()] });

    expect(parts).toEqual([
      { type: 'reasoning-delta', text: 'Hm' },
      { type: 'text-delta', text: 'Hi' },
    ]);
    expect(response?.content.map((part) => part.type)).toEqual(['reasoning', 'text']);
  });

  test('of signed reasoning end a block at its signature, even if all blocks have one index', async () => {
    const details = [
      { type: 'reasoning.text', text: 'One', index: 0 },
      { type: 'reasoning.text', text: ' two', signature: 'a', index: 0 },
      { type: 'reasoning.text', text: 'Three', index: 0 },
      { type: 'reasoning.text', signature: 'b', index: 0 },
    ];
    const chunks = [...details.map((detail) => chunk({ reasoning_details: [detail] })), end()];

    const { response } = await streamedExchange({ chunks });

    const fields = {
      reasoning_details: [
        { type: 'reasoning.text', text: 'One two', signature: 'a', index: 0 },
        { type: 'reasoning.text', text: 'Three', signature: 'b', index: 0 },
      ],
    };
    expect(response?.content).toMatchObject([{ type: 'reasoning', providerMetadata: { openai: { fields } } }]);
  });

  test('of a refusal are text, and the finish reason is content-filter', async () => {
    const chunks = [
      chunk({ role: 'assistant', content: '' }),
      chunk({ refusal: 'I ' }),
      chunk({ refusal: "can't." }),
      end(),
    ];

    const { response, parts } = await streamedExchange({ chunks });

    expect(parts.map(({ text }) => text)).toEqual(['I ', "can't."]);
    expect(response).toMatchObject({ content: [{ type: 'text', text: "I can't." }], finishReason: 'content-filter' });
  });

  test('of unknown kinds are ignored', async () => {
    const content = [{ type: 'text', text: 'Hi' }, { type: 'thinking', thinking: [] }, { type: 'reference' }, null];
    const odd = [null, 7, { choices: null }, chunk({ hologram: {}, content: 7 })];
    const other = { ...chunk({ content: 'second choice' }), choices: [{ index: 1, delta: { content: 'no' } }] };

    const { response, parts } = await streamedExchange({ chunks: [...odd, other, chunk({ content }), end()] });

    expect(parts).toEqual([{ type: 'text-delta', text: 'Hi' }]);
    expect(response?.content).toEqual([{ type: 'text', text: 'Hi' }]);
  });
});

describe('messages in place of deltas', () => {
  const message = (content: string, reason?: string) => ({
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: reason }],
  });

  test.each([
    ['one complete message', [message('One two', 'stop')]],
    ['one message without a finish reason', [message('One two')]],
    ['several messages with pieces of the text', [message('One '), message('two', 'stop')]],
    [
      'a message after deltas with the same text',
      [chunk({ content: 'One ' }), chunk({ content: 'two' }), message('One two', 'stop')],
    ],
  ])('are accepted: %s', async (_title, chunks) => {
    const { response, parts } = await streamedExchange({ chunks });

    expect(response?.content).toEqual([{ type: 'text', text: 'One two' }]);
    expect(parts.map(({ text }) => text).join('')).toBe('One two');
  });
});

describe('tool calls in fragments', () => {
  test('are assembled by index in any order', async () => {
    const calls = await callsOf(
      { index: 0, id: 'a', type: 'function', function: called('first', '') },
      { index: 1, id: 'b', type: 'function', function: called('second', '{"x"') },
      { index: 0, function: { arguments: '{"y":' } },
      { index: 1, function: { arguments: ':1}' } },
      { index: 0, function: { arguments: '2}' } },
    );

    expect(calls).toEqual([
      { type: 'tool-call', id: 'a', name: 'first', input: { y: 2 } },
      { type: 'tool-call', id: 'b', name: 'second', input: { x: 1 } },
    ]);
  });

  test('are one call if each fragment repeats the id and the name', async () => {
    const calls = await callsOf(
      { index: 0, id: 'a', function: called('first', '{"x"') },
      { index: 0, id: 'a', function: called('first', ':1}') },
      { index: 0, id: '', function: { name: '', arguments: '' } },
    );

    expect(calls).toEqual([{ type: 'tool-call', id: 'a', name: 'first', input: { x: 1 } }]);
  });

  test('are one call if each fragment repeats only the name', async () => {
    const calls = await callsOf(
      { index: 0, function: called('first', '{"x"') },
      { index: 0, function: called('first', ':1}') },
    );

    expect(calls).toMatchObject([{ name: 'first', input: { x: 1 } }]);
  });

  test.each([
    ['is split', ['get_', 'weather']],
    ['is repeated', ['get_weather', 'get_weather']],
    ['is repeated in full after a piece', ['get_', 'get_weather']],
  ])('are one call if the name %s', async (_title, [first = '', second = '']) => {
    const calls = await callsOf(
      { index: 0, id: 'a', function: called(first, '') },
      { index: 0, function: called(second, '') },
      { index: 0, function: { arguments: '{"x":1}' } },
    );

    expect(calls).toEqual([{ type: 'tool-call', id: 'a', name: 'get_weather', input: { x: 1 } }]);
  });

  test.each([
    ['the server sent `{}` as a placeholder', ['{}', '{"x"', ':1}']],
    ['the server repeated them', ['', '{"x":1}', '{"x":1}']],
    ['the server repeated them with the name', ['{"x"', ':1}', '{"x":1}', '']],
    ['the server sent an object', [{ x: 1 }, '', null]],
    ['two pieces are equal', ['{"x":', '{"x":', '2}}'], { x: { x: 2 } }],
  ])('have the arguments once if %s', async (_title, pieces, input: unknown = { x: 1 }) => {
    const calls = await callsOf(
      ...pieces.map((piece, at) => ({
        index: 0,
        ...(at === 0 && { id: 'a' }),
        function: { name: 'first', arguments: piece },
      })),
    );

    expect(calls).toEqual([{ type: 'tool-call', id: 'a', name: 'first', input }]);
  });

  test.each([
    ['with one index', { index: 0 }],
    ['without index', {}],
  ])('that are complete, %s and with one id, stay separate calls with unique ids', async (_title, place) => {
    const calls = await callsOf(
      { ...place, id: 'first', function: called('first', '{"x":1}') },
      { ...place, id: 'first', function: called('first', '{"x":2}') },
      { ...place, id: 'first', function: called('second', '{}') },
      { ...place, id: 'first', function: called('third', '{}') },
    );

    expect(calls.map(({ name, input }) => [name, input])).toEqual([
      ['first', { x: 1 }],
      ['first', { x: 2 }],
      ['second', {}],
      ['third', {}],
    ]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(4);
  });

  test('with two JSON objects in one keep the original string as invalid input, since either may be meant', async () => {
    const calls = await callsOf(
      { index: 0, id: 'a', function: called('first', '{"x":1}') },
      { index: 0, function: { arguments: '{"x":2}' } },
    );

    expect(calls).toMatchObject([{ input: {}, invalidInput: '{"x":1}{"x":2}' }]);
  });

  test('in deprecated function_call fields are one call', async () => {
    const chunks = [called('first', ''), { arguments: '{"x"' }, { arguments: ':1}' }].map((function_call) =>
      chunk({ function_call }),
    );

    const { response } = await streamedExchange({ chunks: [...chunks, end('function_call')] });

    expect(response).toMatchObject({ content: [{ name: 'first', input: { x: 1 } }], finishReason: 'tool-calls' });
  });

  test('keep a field named __proto__', async () => {
    const fragment = JSON.parse('{"index":0,"id":"a","__proto__":{"polluted":1},"function":{"name":"first"}}');

    const [call] = await callsOf(fragment);

    expect(call).toMatchObject({ id: 'a', name: 'first', input: {} });
    expect(Object.getPrototypeOf(call)).toBe(Object.prototype);
    expect({}).not.toHaveProperty('polluted');
  });

  test('are separated by ids without an index', async () => {
    const calls = await callsOf(
      { id: 'a', function: called('first', '{"x"') },
      { function: { arguments: ':1}' } },
      { id: 'b', function: called('first', '{"x"') },
      { id: 'b', function: { arguments: ':2}' } },
    );

    expect(calls.map(({ id, input }) => [id, input])).toEqual([
      ['a', { x: 1 }],
      ['b', { x: 2 }],
    ]);
  });

  test.each([
    ['with one index', { index: 0 }],
    ['without index', {}],
  ])('that are complete, %s and without ids, stay separate calls', async (_title, place) => {
    const calls = await callsOf(
      { ...place, function: called('first', '{"x":1}') },
      { ...place, function: called('first', '{"x":2}') },
      { ...place, function: called('second', '') },
    );

    expect(calls.map(({ name, input }) => [name, input])).toEqual([
      ['first', { x: 1 }],
      ['first', { x: 2 }],
      ['second', {}],
    ]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(3);
    expect(calls.every(({ id }) => /^call_\w{20,35}$/.test(id))).toBe(true);
  });

  test('accept an id and other fields in later fragments', async () => {
    const calls = await callsOf(
      { index: 0, function: called('first', '{}') },
      { index: 0, id: 'late', function: null },
      { index: 0, extra_content: { google: { thought_signature: 's' } } },
    );

    expect(calls).toMatchObject([
      {
        id: 'late',
        providerMetadata: { openai: { fields: { extra_content: { google: { thought_signature: 's' } } } } },
      },
    ]);
  });

  test('that were cut off by the token limit keep the received part', async () => {
    const chunks = [fragment({ index: 0, id: 'a', function: called('first', '{"text":"Once up') }), end('length')];

    const { response } = await streamedExchange({ chunks });

    expect(response).toMatchObject({
      content: [{ id: 'a', input: {}, invalidInput: '{"text":"Once up' }],
      finishReason: 'length',
    });
  });
});

describe('usage', () => {
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

  test('is read from the last chunk with usage', async () => {
    const running = { ...chunk({ content: 'Hi' }), usage: { ...usage, completion_tokens: 1, total_tokens: 4 } };

    const rest = [
      { choices: [], usage },
      { choices: [], usage: {} },
    ];
    const { response } = await streamedExchange({ chunks: [running, end(), ...rest] });

    expect(response?.usage).toEqual({ inputTokens: 3, outputTokens: 2, totalTokens: 5 });
    expect(response?.providerMetadata).toMatchObject({ openai: { id: 'chatcmpl-1' } });
  });

  test('is read from the choice if the server puts it there', async () => {
    const choice = { index: 0, delta: {}, finish_reason: 'stop', usage };

    const { response } = await streamedExchange({ chunks: [{ choices: [choice] }] });

    expect(response?.usage).toEqual({ inputTokens: 3, outputTokens: 2, totalTokens: 5 });
  });

  test('is zero if the server sends none', async () => {
    const { response } = await streamedExchange({ chunks: [chunk({ content: 'Hi' }), end()], end: 'silent' });

    expect(response?.usage).toEqual({ inputTokens: 0, outputTokens: 0, totalTokens: 0 });
  });
});

describe('a server that responds to a stream request with a complete body', () => {
  const message = { role: 'assistant', content: 'Hi', reasoning: 'Hm' };

  test('is read, and its parts are pushed', async () => {
    const { response, parts } = await streamedExchange({ json: { choices: [{ message, finish_reason: 'stop' }] } });

    expect(parts).toEqual([
      { type: 'reasoning-delta', text: 'Hm' },
      { type: 'text-delta', text: 'Hi' },
    ]);
    expect(response?.finishReason).toBe('stop');
  });

  test.each(['text/plain', 'text/event-stream', 'application/x-ndjson'])(
    'is read with content type %s',
    async (type) => {
      const body = JSON.stringify({ choices: [{ message }] }, null, 2);

      const { response } = await streamedExchange({ body, headers: { 'content-type': type } });

      expect(response).toMatchObject({ content: [{ type: 'reasoning' }, { text: 'Hi' }], finishReason: 'other' });
    },
  );

  test('is read with an existing client, and so is a stream with a JSON content type', async () => {
    const json = { choices: [{ message, finish_reason: 'stop' }] };
    const headers = { 'content-type': 'application/json' };
    await using server = await startOpenAIServer([{ json }, { chunks: [chunk({ content: 'Hi' }), end()], headers }]);
    const model = openai('m', { client: new OpenAI({ baseURL: server.baseURL, apiKey: 'k' }) });

    for (const _reply of ['whole', 'stream']) {
      const { content } = await model.generate({ ...hello, onPart: () => {} });
      expect(content.at(-1)).toEqual({ type: 'text', text: 'Hi' });
    }
  });

  test('rejects with the content of an error or an HTML page', async () => {
    const error = await streamedExchange({ json: { error: { message: 'No credits', code: 402 } } });
    const page = await streamedExchange({ body: '<html>Welcome</html>', headers: { 'content-type': 'text/html' } });

    expect(error.error).toMatchObject({
      code: 'ERR_PROVIDER_FAILED',
      message: 'No credits',
      status: 402,
      retryable: false,
    });
    expect(page.error).toMatchObject({ message: expect.stringContaining('"<html>Welcome</html>"'), retryable: false });
  });

  test('rejects as retryable if the body is cut off', async () => {
    const headers = { 'content-type': 'application/json' };

    const { error } = await streamedExchange({ chunks: ['{"choices":['], end: 'drop', headers });

    expect(error).toMatchObject({ message: expect.stringMatching(/^The connection failed/), retryable: true });
  });
});
