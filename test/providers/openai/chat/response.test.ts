import { expect, test } from 'vitest';
import type { FinishReason, ModelResponse } from '../../../../src/model/model.js';
import { exchange } from '../../../support/providers/openai-exchange.js';

const call = (text: unknown, rest: object = {}) => ({
  id: 'call_1',
  type: 'function',
  function: { name: 'add', arguments: text },
  ...rest,
});

/** Returns the response for a completion with this message. */
async function read(message: object, choice: object = {}): Promise<ModelResponse | undefined> {
  const { response, error } = await exchange({ json: { choices: [{ message, finish_reason: 'stop', ...choice }] } });
  if (error) throw error;
  return response;
}

test.each([
  ['a JSON string', '{"a":1}', { input: { a: 1 } }],
  ['an empty string', '', { input: {} }],
  ['white space', ' \n', { input: {} }],
  ['undefined', undefined, { input: {} }],
  ['null', null, { input: {} }],
  ['the string "null"', 'null', { input: {} }],
  ['an object instead of a string', { a: 1 }, { input: { a: 1 } }],
  ['JSON inside a JSON string', JSON.stringify('{"a":1}'), { input: { a: 1 } }],
  ['a JSON string that is not an object', '"7"', { input: '7' }],
  ['a JSON array', '[1,"b"]', { input: [1, 'b'] }],
  ['malformed JSON', '{"a":1', { input: {}, invalidInput: '{"a":1' }],
  ['prose', 'a = 1', { input: {}, invalidInput: 'a = 1' }],
])('tool arguments may be %s', async (_title, text, input) => {
  const response = await read({ tool_calls: [call(text)] });

  expect(response?.content).toEqual([{ type: 'tool-call', id: 'call_1', name: 'add', ...input }]);
});

test('gives calls with the same id or without an id unique ids', async () => {
  const tool_calls = [call('{}'), call('{}'), call('{}', { id: '' }), call('{}', { id: undefined })];

  const response = await read({ content: null, tool_calls });

  const ids = response?.content.map((part) => 'id' in part && part.id);
  expect(ids?.[0]).toBe('call_1');
  expect(new Set(ids).size).toBe(4);
});

test('drops tool calls that are not function calls', async () => {
  const tool_calls = [{ id: 'x', type: 'custom', custom: { name: 'sql', input: 'select 1' } }, null, call('{}')];

  expect((await read({ tool_calls }))?.content).toHaveLength(1);
});

test.each<[unknown, FinishReason]>([
  ['stop', 'stop'],
  ['length', 'length'],
  ['tool_calls', 'tool-calls'],
  ['function_call', 'tool-calls'],
  ['content_filter', 'content-filter'],
  ['content_filter: PROHIBITED_CONTENT', 'content-filter'],
  ['sensitive', 'content-filter'],
  ['COMPLETE', 'stop'],
  ['model_context_window_exceeded', 'length'],
  ['eos', 'stop'],
  ['eos_token', 'stop'],
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['tool_use', 'tool-calls'],
  ['model_length', 'length'],
  ['MAX_TOKENS', 'length'],
  ['constructor', 'other'],
  ['unheard_of', 'other'],
  [7, 'other'],
  [null, 'other'],
])('maps the finish reason %j to %j', async (reason, finishReason) => {
  expect(await read({ content: 'Hi' }, { finish_reason: reason })).toMatchObject({ finishReason });
});

test.each(['error', 'insufficient_system_resource', 'abort', 'function_call_filter: MALFORMED_FUNCTION_CALL'])(
  'rejects a response with the finish reason %s',
  async (reason) => {
    const answer = read({ content: 'Half a', tool_calls: [call('{}')] }, { finish_reason: reason });

    await expect(answer).rejects.toMatchObject({ message: expect.stringContaining(`"${reason}"`), retryable: true });
  },
);

test('uses the choice with index 0 at any position', async () => {
  const choices = [
    { index: 1, message: { content: 'Second' }, finish_reason: 'stop' },
    { index: 0, message: { content: 'First' }, finish_reason: 'stop' },
  ];

  expect((await exchange({ json: { choices } })).response?.content).toEqual([{ type: 'text', text: 'First' }]);
});

test('merges the tool calls of several choices with the same index', async () => {
  const choice = (message: object, index?: number) => ({ index, message, finish_reason: 'tool_calls' });
  const called = (id: string) => ({ role: 'assistant', content: null, tool_calls: [call('{}', { id })] });
  const choices = [choice({ content: 'I add.' }), choice(called('a')), choice(called('b')), choice(called('c'), 1)];

  const { response } = await exchange({ json: { choices } });

  expect(response).toMatchObject({
    content: [{ text: 'I add.' }, { id: 'a' }, { id: 'b' }],
    finishReason: 'tool-calls',
  });
  const other = choice({ ...called('a'), content: 'Another answer.' });
  const alternatives = await exchange({ json: { choices: [choice({ content: 'One.' }), other] } });
  expect(alternatives.response?.content).toEqual([{ type: 'text', text: 'One.' }]);
});

test('accepts the deprecated function_call field, unless there are tool_calls', async () => {
  const function_call = { name: 'add', arguments: '{"a":1}' };
  const expected = { type: 'tool-call', id: expect.stringMatching(/^call_/), name: 'add', input: { a: 1 } };

  expect(await read({ content: null, function_call }, { finish_reason: 'function_call' })).toMatchObject({
    content: [expected],
    finishReason: 'tool-calls',
  });
  expect((await read({ function_call, tool_calls: [call('{}')] }))?.content).toHaveLength(1);
});

test.each(['stop', null, ''])('maps the finish reason %j beside tool calls to tool-calls', async (reason) => {
  expect(await read({ tool_calls: [call('{}')] }, { finish_reason: reason })).toMatchObject({
    finishReason: 'tool-calls',
  });
});

test('reads a refusal as text with the finish reason content-filter', async () => {
  expect(await read({ content: null, refusal: 'No.' })).toMatchObject({
    content: [{ type: 'text', text: 'No.', providerMetadata: { openai: { field: 'refusal' } } }],
    finishReason: 'content-filter',
  });
});

test('sums a missing total of the usage, and ignores counts that are not numbers', async () => {
  const usage = { prompt_tokens: 3, completion_tokens: 2, prompt_tokens_details: { cached_tokens: '1' } };

  const { response } = await exchange({ json: { choices: [{ message: { content: 'Hi' } }], usage } });

  expect(response?.usage).toEqual({ inputTokens: 3, outputTokens: 2, totalTokens: 5 });
});

test.each([
  ['the choice', { choices: [{ message: { content: 'Hi' }, usage: { prompt_tokens: 3 } }] }],
  ['a field of Groq', { choices: [{ message: { content: 'Hi' } }], x_groq: { usage: { prompt_tokens: 3 } } }],
])('reads usage from %s', async (_title, json) => {
  expect((await exchange({ json })).response?.usage).toEqual({ inputTokens: 3, outputTokens: 0, totalTokens: 3 });
});

test.each([
  ['OpenAI', { prompt_tokens_details: { cached_tokens: 2 }, cached_tokens: 1 }],
  ['DeepSeek', { prompt_cache_hit_tokens: 2, prompt_tokens_details: null }],
  ['Moonshot', { cached_tokens: 2 }],
])('reads cached tokens in the fields of %s', async (_title, counts) => {
  const usage = { prompt_tokens: 3, completion_tokens: 1, ...counts };

  const { response } = await exchange({ json: { choices: [{ message: { content: 'Hi' } }], usage } });

  expect(response?.usage).toMatchObject({ inputTokens: 3, cachedInputTokens: 2 });
});

test('does not send empty fields beside a call back', async () => {
  const response = await read({ tool_calls: [call('{}', { extra_content: null })] });

  expect(response?.content).toEqual([{ type: 'tool-call', id: 'call_1', name: 'add', input: {} }]);
});

test('reads JSON with a text content type', async () => {
  const body = JSON.stringify({ choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }] });

  const { response } = await exchange({ body });

  expect(response).toEqual({
    content: [{ type: 'text', text: 'Hi' }],
    finishReason: 'stop',
    usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
  });
});

test('an empty `function_call` beside `tool_calls: null` is not a call', async () => {
  const response = await read({ content: 'Noon.', tool_calls: null, function_call: { name: '', arguments: '' } });

  expect(response).toMatchObject({ content: [{ type: 'text', text: 'Noon.' }], finishReason: 'stop' });
});

test('a choice without a message that the content filter blocked has the finish reason content-filter', async () => {
  const { response } = await exchange({ json: { choices: [{ index: 0, finish_reason: 'content_filter' }] } });

  expect(response).toMatchObject({ content: [], finishReason: 'content-filter' });
});

test('cached tokens may be in `num_cached_tokens`', async () => {
  const choices = [{ message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }];
  const usage = { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10, num_cached_tokens: 8 };
  const { response } = await exchange({ json: { choices, usage } });

  expect(response?.usage).toMatchObject({ inputTokens: 9, cachedInputTokens: 8 });
});
