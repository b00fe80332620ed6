import { openai } from 'keelson/openai';
import { OpenAI } from 'openai';
import { describe, expect, test } from 'vitest';
import type { ToolCallPart } from '../../../src/model/message.js';
import { hello, streamedExchange } from '../../support/providers/openai-exchange.js';
import { chunk } from '../../support/providers/openai-reply.js';
import { startOpenAIServer } from '../../support/providers/openai-server.js';

const end = (reason = 'stop') => chunk({}, reason);
const fragment = (call: object) => chunk({ tool_calls: [call] });
const called = (name: string, text: string) => ({ name, arguments: text });

/** The tool calls of a stream of these fragments. */
async function callsOf(...fragments: readonly object[]): Promise<readonly ToolCallPart[]> {
  const { response, error } = await streamedExchange({ chunks: [...fragments.map(fragment), end('tool_calls')] });
  if (error) throw error;
  return (response?.content ?? []).filter((part) => part.type === 'tool-call');
}

describe('deltas', () => {
  test('of reasoning count once, where a server sends it under two names', async () => {
    const both = { reasoning: 'Hm', reasoning_content: 'Hm' };

    const { response, parts } = await streamedExchange({ chunks: [chunk(both), chunk({ content: 'Hi' }), end()] });

    expect(parts).toEqual([
      { type: 'reasoning-delta', text: 'Hm' },
      { type: 'text-delta', text: 'Hi' },
    ]);
    expect(response?.content.map((part) => part.type)).toEqual(['reasoning', 'text']);
  });

  test('of reasoning that is signed end with the signature, also where one index covers them all', async () => {
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

  test('of a refusal are text, and the answer counts as filtered', async () => {
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

  test('of kinds that nobody knows are passed over', async () => {
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
    ['one is the whole answer', [message('One two', 'stop')]],
    ['one without a reason is still whole', [message('One two')]],
    ['several are its pieces', [message('One '), message('two', 'stop')]],
    [
      'one after deltas says it again',
      [chunk({ content: 'One ' }), chunk({ content: 'two' }), message('One two', 'stop')],
    ],
  ])('are understood: %s', async (_title, chunks) => {
    const { response, parts } = await streamedExchange({ chunks });

    expect(response?.content).toEqual([{ type: 'text', text: 'One two' }]);
    expect(parts.map(({ text }) => text).join('')).toBe('One two');
  });
});

describe('tool calls in fragments', () => {
  test('are put together by their index, however they interleave', async () => {
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

  test('are one call where the id and the name are repeated with each fragment', async () => {
    const calls = await callsOf(
      { index: 0, id: 'a', function: called('first', '{"x"') },
      { index: 0, id: 'a', function: called('first', ':1}') },
      { index: 0, id: '', function: { name: '', arguments: '' } },
    );

    expect(calls).toEqual([{ type: 'tool-call', id: 'a', name: 'first', input: { x: 1 } }]);
  });

  test('are one call where only the name is repeated', async () => {
    const calls = await callsOf(
      { index: 0, function: called('first', '{"x"') },
      { index: 0, function: called('first', ':1}') },
    );

    expect(calls).toMatchObject([{ name: 'first', input: { x: 1 } }]);
  });

  test.each([
    ['goes on', ['get_', 'weather']],
    ['is said again', ['get_weather', 'get_weather']],
    ['is said again from its start', ['get_', 'get_weather']],
  ])('are one call where the name %s', async (_title, [first = '', second = '']) => {
    const calls = await callsOf(
      { index: 0, id: 'a', function: called(first, '') },
      { index: 0, function: called(second, '') },
      { index: 0, function: { arguments: '{"x":1}' } },
    );

    expect(calls).toEqual([{ type: 'tool-call', id: 'a', name: 'get_weather', input: { x: 1 } }]);
  });

  test.each([
    ['`{}` held their place', ['{}', '{"x"', ':1}']],
    ['they were sent again whole', ['', '{"x":1}', '{"x":1}']],
    ['they were sent again whole, and the name with them', ['{"x"', ':1}', '{"x":1}', '']],
    ['they were sent as an object', [{ x: 1 }, '', null]],
    ['they go on with what they began with', ['{"x":', '{"x":', '2}}'], { x: { x: 2 } }],
  ])('have the arguments once where %s', async (_title, pieces, input: unknown = { x: 1 }) => {
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
  ])('that come whole, %s and with one id, are calls of their own, each with an id', async (_title, place) => {
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

  test('with two arguments in one are shown to the model as they came, since either may be meant', async () => {
    const calls = await callsOf(
      { index: 0, id: 'a', function: called('first', '{"x":1}') },
      { index: 0, function: { arguments: '{"x":2}' } },
    );

    expect(calls).toMatchObject([{ input: {}, invalidInput: '{"x":1}{"x":2}' }]);
  });

  test('as the protocol once had them are one call', async () => {
    const chunks = [called('first', ''), { arguments: '{"x"' }, { arguments: ':1}' }].map((function_call) =>
      chunk({ function_call }),
    );

    const { response } = await streamedExchange({ chunks: [...chunks, end('function_call')] });

    expect(response).toMatchObject({ content: [{ name: 'first', input: { x: 1 } }], finishReason: 'tool-calls' });
  });

  test('keep a field named like a prototype where it is', async () => {
    const fragment = JSON.parse('{"index":0,"id":"a","__proto__":{"polluted":1},"function":{"name":"first"}}');

    const [call] = await callsOf(fragment);

    expect(call).toMatchObject({ id: 'a', name: 'first', input: {} });
    expect(Object.getPrototypeOf(call)).toBe(Object.prototype);
    expect({}).not.toHaveProperty('polluted');
  });

  test('are told apart by their ids where there is no index', async () => {
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
  ])('that come whole, %s and without ids, are calls of their own', async (_title, place) => {
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

  test('take an id that comes late, and fields that come later still', async () => {
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

  test('that were cut off by the limit keep the half that came', async () => {
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

  test('comes from the last chunk that has any', async () => {
    const running = { ...chunk({ content: 'Hi' }), usage: { ...usage, completion_tokens: 1, total_tokens: 4 } };

    const rest = [
      { choices: [], usage },
      { choices: [], usage: {} },
    ];
    const { response } = await streamedExchange({ chunks: [running, end(), ...rest] });

    expect(response?.usage).toEqual({ inputTokens: 3, outputTokens: 2, totalTokens: 5 });
    expect(response?.providerMetadata).toMatchObject({ openai: { id: 'chatcmpl-1' } });
  });

  test('is read from the choice where a server puts it there', async () => {
    const choice = { index: 0, delta: {}, finish_reason: 'stop', usage };

    const { response } = await streamedExchange({ chunks: [{ choices: [choice] }] });

    expect(response?.usage).toEqual({ inputTokens: 3, outputTokens: 2, totalTokens: 5 });
  });

  test('is nothing where the server sends none', async () => {
    const { response } = await streamedExchange({ chunks: [chunk({ content: 'Hi' }), end()], end: 'silent' });

    expect(response?.usage).toEqual({ inputTokens: 0, outputTokens: 0, totalTokens: 0 });
  });
});

describe('a server that answers a request to stream with a whole body', () => {
  const message = { role: 'assistant', content: 'Hi', reasoning: 'Hm' };

  test('is understood, and its parts are pushed', async () => {
    const { response, parts } = await streamedExchange({ json: { choices: [{ message, finish_reason: 'stop' }] } });

    expect(parts).toEqual([
      { type: 'reasoning-delta', text: 'Hm' },
      { type: 'text-delta', text: 'Hi' },
    ]);
    expect(response?.finishReason).toBe('stop');
  });

  test.each(['text/plain', 'text/event-stream', 'application/x-ndjson'])('is understood as %s too', async (type) => {
    const body = JSON.stringify({ choices: [{ message }] }, null, 2);

    const { response } = await streamedExchange({ body, headers: { 'content-type': type } });

    expect(response).toMatchObject({ content: [{ type: 'reasoning' }, { text: 'Hi' }], finishReason: 'other' });
  });

  test('is understood by a client that was given, and so is a stream that is called JSON', async () => {
    const json = { choices: [{ message, finish_reason: 'stop' }] };
    const headers = { 'content-type': 'application/json' };
    await using server = await startOpenAIServer([{ json }, { chunks: [chunk({ content: 'Hi' }), end()], headers }]);
    const model = openai('m', { client: new OpenAI({ baseURL: server.baseURL, apiKey: 'k' }) });

    for (const _reply of ['whole', 'stream']) {
      const { content } = await model.generate({ ...hello, onPart: () => {} });
      expect(content.at(-1)).toEqual({ type: 'text', text: 'Hi' });
    }
  });

  test('rejects with what it says, where that is an error or a page', async () => {
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

  test('rejects as something to try again, where the body is cut', async () => {
    const headers = { 'content-type': 'application/json' };

    const { error } = await streamedExchange({ chunks: ['{"choices":['], end: 'drop', headers });

    expect(error).toMatchObject({ message: expect.stringMatching(/^The connection failed/), retryable: true });
  });
});
