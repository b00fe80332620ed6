import { Agent } from 'keelson';
import { aiSdk } from 'keelson/ai-sdk';
import { describe, expect, test } from 'vitest';
import { call, reasonIn, scriptedModel } from '../../support/providers/ai-sdk-model.js';

const origin = { aiSdk: { provider: 'anthropic.messages' } };
const signed = { anthropic: { signature: 's' } };

/** Returns the response for a result that was not streamed. */
async function read(result: object, version: 'v2' | 'v3' | 'v4' = 'v3') {
  const { response, error } = await call(scriptedModel(version, [result]));
  if (error) throw error;
  return response;
}

describe('a response', () => {
  test('has its parts in order, each with the metadata of its provider', async () => {
    const content = [
      { type: 'reasoning', text: 'Hm.', providerMetadata: signed },
      { type: 'reasoning', text: 'So.' },
      { type: 'text', text: '' },
      { type: 'text', text: 'Wait.', providerMetadata: signed },
      { type: 'file', mediaType: 'image/png', data: 'iVBO' },
      { type: 'source', sourceType: 'url', id: '1', url: 'https://a.test' },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'f', input: '{"a":1}', providerMetadata: signed },
      { type: 'of the future' },
    ];

    const response = await read({ content, finishReason: reasonIn('v3', 'tool-calls') });

    expect(response).toMatchObject({ finishReason: 'tool-calls' });
    expect(response?.content).toEqual([
      { type: 'reasoning', text: 'Hm.', providerMetadata: { ...signed, ...origin } },
      { type: 'reasoning', text: 'So.', providerMetadata: origin },
      { type: 'text', text: 'Wait.', providerMetadata: { ...signed, ...origin } },
      { type: 'file', mediaType: 'image/png', data: 'iVBO' },
      { type: 'tool-call', id: 'c1', name: 'f', input: { a: 1 }, providerMetadata: { ...signed, ...origin } },
    ]);
    expect(response?.providerMetadata).toMatchObject({ aiSdk: { sources: [{ url: 'https://a.test' }] } });
  });

  test.each([
    ['', { input: {} }],
    [' ', { input: {} }],
    ['null', { input: {} }],
    ['{"a":1}', { input: { a: 1 } }],
    ['{"a":', { input: {}, invalidInput: '{"a":' }],
    [{ a: 1 }, { input: { a: 1 } }],
  ])('reads the arguments %j', async (input, expected) => {
    const response = await read({ content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'f', input }] });

    expect(response?.content).toEqual([{ type: 'tool-call', id: 'c1', name: 'f', ...expected }]);
    expect(response?.finishReason).toBe('tool-calls');
  });

  test('gives calls unique ids if ids are missing or repeated', async () => {
    const calls = ['c1', 'c1', ''].map((toolCallId) => ({ type: 'tool-call', toolCallId, toolName: 'f', input: '' }));

    const ids = (await read({ content: calls }))?.content.map((part) => part.type === 'tool-call' && part.id);

    expect(ids).toEqual(['c1', expect.stringMatching(/^call_/), expect.stringMatching(/^call_/)]);
  });

  test('keeps calls that the provider executed, with their final results', async () => {
    const at = { toolCallId: 's1', toolName: 'search' };
    const content = [
      { type: 'tool-call', ...at, input: '{}', providerExecuted: true },
      { type: 'tool-result', ...at, result: {}, preliminary: true },
      { type: 'tool-result', ...at, result: [{ url: 'u' }], providerMetadata: signed },
      { type: 'tool-result', ...at, result: 'broken', isError: true },
    ];

    const response = await read({ content });

    expect(response).toMatchObject({ finishReason: 'stop' });
    const result = { type: 'tool-result', id: 's1', name: 'search' };
    expect(response?.content).toEqual([
      { type: 'tool-call', id: 's1', name: 'search', input: {}, providerExecuted: true, providerMetadata: origin },
      { ...result, content: '[{"url":"u"}]', structured: [{ url: 'u' }], providerMetadata: { ...signed, ...origin } },
      { ...result, content: 'broken', structured: 'broken', isError: true, providerMetadata: origin },
    ]);
  });

  test('of v4 has files from typed data', async () => {
    const file = { type: 'file', mediaType: 'image/png' };
    const content = [
      { ...file, data: { type: 'data', data: 'iVBO' } },
      { ...file, data: { type: 'url', url: new URL('https://a.test/b.png') } },
    ];

    const response = await read({ content }, 'v4');

    expect(response?.content).toMatchObject([{ data: 'iVBO' }, { data: 'https://a.test/b.png' }]);
  });

  test('of v4 keeps parts that only its provider understands, and sends them back only to this provider', async () => {
    const custom = { type: 'custom', kind: 'openai.compaction' };
    const sketch = { type: 'reasoning-file', mediaType: 'image/png' };
    const content = [
      { ...custom, providerMetadata: { openai: { itemId: 'i' } } },
      { ...sketch, data: { type: 'data', data: new Uint8Array([1]) } },
      { type: 'text', text: 'Hi' },
    ];
    const model = scriptedModel('v4', [{ content }], { provider: 'openai.responses' });
    const other = scriptedModel('v4', [{ content: [{ type: 'text', text: 'Yes' }] }]);

    const { history, text } = await new Agent({ model: aiSdk(model) }).run('Hello');
    const messages = JSON.parse(JSON.stringify(history));
    await new Agent({ model: aiSdk(model) }).run('And?', { messages });
    await new Agent({ model: aiSdk(other) }).run('And?', { messages });

    expect(text).toBe('Hi');
    const back = [
      { ...custom, providerOptions: { openai: { itemId: 'i' } } },
      { ...sketch, data: { type: 'data', data: 'AQ==' } },
      { type: 'text', text: 'Hi' },
    ];
    expect(model.calls[1]?.prompt).toMatchObject([{}, { content: back }, {}]);
    expect(other.calls[0]?.prompt).toMatchObject([{}, { content: [{ type: 'text', text: 'Hi' }] }, {}]);
  });

  test.each([
    ['stop', 'stop'],
    ['length', 'length'],
    ['content-filter', 'content-filter'],
    ['other', 'other'],
    ['unknown', 'other'],
    ['new', 'other'],
  ])('accepts the finish reason %s', async (reason, expected) => {
    const content = [{ type: 'text', text: 'Hi' }];

    const flat = await read({ content, finishReason: reason }, 'v2');
    const nested = await read({ content, finishReason: { unified: reason, raw: 'end_turn' } });

    expect([flat?.finishReason, nested?.finishReason]).toEqual([expected, expected]);
    expect(nested?.providerMetadata).toEqual({ aiSdk: { finishReason: 'end_turn' } });
  });

  test('with finish reason tool-calls but without a call is rejected', async () => {
    const result = { content: [{ type: 'reasoning', text: 'Hm.' }], finishReason: reasonIn('v3', 'tool-calls') };

    await expect(read(result)).rejects.toMatchObject({ code: 'ERR_PROVIDER_FAILED', retryable: true });
  });

  test('with the finish reason error is rejected', async () => {
    const finishReason = { unified: 'error', raw: 'MALFORMED_FUNCTION_CALL' };

    await expect(read({ content: [], finishReason })).rejects.toMatchObject({
      retryable: true,
      message: expect.stringContaining('MALFORMED_FUNCTION_CALL'),
    });
  });

  test('with a request to approve a missing call is rejected', async () => {
    const content = [{ type: 'tool-approval-request', approvalId: 'a', toolCallId: 'm1' }];

    await expect(read({ content })).rejects.toMatchObject({
      retryable: false,
      message: expect.stringMatching(/asks to approve tool call "m1", which it does not contain/),
    });
  });

  test('that is not an object is rejected', async () => {
    const model = { ...scriptedModel('v3', []), doGenerate: async () => undefined as never };

    const error = await aiSdk(model)
      .generate({ messages: [], tools: [] })
      .catch((thrown: unknown) => thrown);

    expect(error).toMatchObject({ code: 'ERR_PROVIDER_FAILED', retryable: false });
  });
});

test('continues a turn that Anthropic paused, as one response', async () => {
  const search = { type: 'tool-call', toolCallId: 's1', toolName: 'web_search', input: '{}', providerExecuted: true };
  const found = { type: 'tool-result', toolCallId: 's1', toolName: 'web_search', result: [] };
  const sources = [1, 2].map((at) => ({ type: 'source', sourceType: 'url', url: `https://example.org/${at}` }));
  const finishReason = { unified: 'stop', raw: 'pause_turn' };
  const providerMetadata = { anthropic: { container: { id: 'container_1' } } };
  const paused = { content: [search, sources[0]], finishReason, providerMetadata };
  const model = scriptedModel('v3', [paused, { content: [found, sources[1], { type: 'text', text: 'Sunny.' }] }]);

  const settings = { providerOptions: { anthropic: { container: { skills: [] } } } };
  const { response } = await call(model, { settings });

  expect(response).toMatchObject({
    content: [{ id: 's1', providerExecuted: true }, { id: 's1', structured: [] }, { text: 'Sunny.' }],
    finishReason: 'stop',
    usage: { totalTokens: 10 },
    providerMetadata: { aiSdk: { finishReason: 'stop', sources } },
  });
  expect(model.calls[1]?.prompt).toMatchObject([
    { role: 'user' },
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 's1', providerExecuted: true }] },
  ]);
  expect(model.calls.map(({ providerOptions }) => providerOptions)).toEqual([
    settings.providerOptions,
    { anthropic: { container: { id: 'container_1', skills: [] } } },
  ]);
});

test('the usage of a paused turn has the tokens of its last request in `contextTokens`', async () => {
  const search = { type: 'tool-call', toolCallId: 's1', toolName: 'web_search', input: '{}', providerExecuted: true };
  const usageOf = (input: number, output: number) => ({
    inputTokens: { total: input },
    outputTokens: { total: output },
  });
  const finishReason = { unified: 'stop', raw: 'pause_turn' };
  const model = scriptedModel('v3', [
    { content: [search], finishReason, usage: usageOf(1_000, 50) },
    { content: [search], finishReason, usage: usageOf(1_100, 60) },
    { content: [{ type: 'text', text: 'Sunny.' }], usage: usageOf(1_200, 70) },
  ]);

  const { response } = await call(model);

  expect(response?.usage).toEqual({
    ...{ inputTokens: 3_300, outputTokens: 180, totalTokens: 3_480 },
    contextTokens: 1_270,
  });
});

describe('response metadata', () => {
  test.each([
    [
      'v2',
      { inputTokens: 9, outputTokens: 5, totalTokens: 15, cachedInputTokens: 4, reasoningTokens: 3 },
      { inputTokens: 9, outputTokens: 5, totalTokens: 15, cachedInputTokens: 4, reasoningTokens: 3 },
    ],
    [
      'v2',
      { inputTokens: 9, outputTokens: 5, totalTokens: 17, reasoningTokens: 3 },
      { inputTokens: 9, outputTokens: 8, totalTokens: 17, reasoningTokens: 3 },
    ],
    [
      'v2',
      { inputTokens: 9, outputTokens: 5, reasoningTokens: 30 },
      { inputTokens: 9, outputTokens: 35, totalTokens: 44, reasoningTokens: 30 },
    ],
    [
      'v3',
      { inputTokens: { total: 9, cacheRead: 4, cacheWrite: 2 }, outputTokens: { total: 5 } },
      { inputTokens: 9, outputTokens: 5, totalTokens: 14, cachedInputTokens: 4, cacheWriteTokens: 2 },
    ],
    ['v2', { inputTokens: undefined, outputTokens: Number.NaN }, { inputTokens: 0, outputTokens: 0, totalTokens: 0 }],
    [
      'v3',
      { inputTokens: { total: 9, cacheRead: 4 }, outputTokens: { total: 5, reasoning: 3 } },
      { inputTokens: 9, outputTokens: 5, totalTokens: 14, cachedInputTokens: 4, reasoningTokens: 3 },
    ],
    ['v4', { inputTokens: {}, outputTokens: { total: 5 } }, { inputTokens: 0, outputTokens: 5, totalTokens: 5 }],
    ['v4', undefined, { inputTokens: 0, outputTokens: 0, totalTokens: 0 }],
  ] as const)('contains the usage of %s: %j', async (version, usage, expected) => {
    expect((await read({ content: [], usage }, version))?.usage).toEqual(expected);
  });

  test.each([{ anthropic: { cacheCreationInputTokens: 7 } }, { bedrock: { usage: { cacheWriteInputTokens: 7 } } }])(
    'contains the tokens written to a cache, which v2 has in %j only',
    async (providerMetadata) => {
      const usage = { inputTokens: 9, outputTokens: 5, totalTokens: 14 };

      expect((await read({ content: [], usage, providerMetadata }, 'v2'))?.usage.cacheWriteTokens).toBe(7);
    },
  );

  test('contains the warnings, the id, the model and the metadata of the provider', async () => {
    const warnings = [{ type: 'unsupported', feature: 'seed' }];
    const response = { id: 'r1', modelId: 'm-2026', timestamp: new Date(0), headers: {}, body: {} };

    const answer = await read({ content: [], warnings, response, providerMetadata: { openai: { logprobs: [] } } });

    expect(answer?.providerMetadata).toEqual({
      openai: { logprobs: [] },
      aiSdk: { id: 'r1', model: 'm-2026', warnings, finishReason: 'stop' },
    });
  });
});

test('gives the model the id of the language model and the name of its provider', () => {
  expect(aiSdk(scriptedModel('v3', []))).toMatchObject({ id: 'scripted', provider: 'anthropic' });
});
