import { getEventListeners } from 'node:events';
import { aiSdk } from 'keelson/ai-sdk';
import { describe, expect, test } from 'vitest';
import { call, finish, scriptedModel } from '../../support/providers/ai-sdk-model.js';

const origin = { aiSdk: { provider: 'anthropic.messages' } };
const text = (id: string, ...deltas: string[]) => [
  { type: 'text-start', id },
  ...deltas.map((delta) => ({ type: 'text-delta', id, delta })),
  { type: 'text-end', id },
];

/** Calls a model that streams these parts. */
function read(parts: readonly unknown[], version: 'v2' | 'v3' | 'v4' = 'v3', maxRetries = 0) {
  return call(scriptedModel(version, [parts]), {}, { streamed: true, maxRetries });
}

describe('a stream', () => {
  test('keeps the texts around a result of the provider apart, also with one id', async () => {
    const call = { toolCallId: 's1', toolName: 'search', providerExecuted: true };
    const { response } = await read([
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: 'I search.' },
      { type: 'tool-call', ...call, input: '{}' },
      { type: 'tool-result', ...call, result: [] },
      { type: 'text-delta', id: '0', delta: 'Noon.' },
      { type: 'text-end', id: '0' },
      finish('v3', 'stop'),
    ]);

    expect(response?.content).toMatchObject([
      { type: 'text', text: 'I search.' },
      { type: 'tool-call' },
      { type: 'tool-result' },
      { type: 'text', text: 'Noon.' },
    ]);
  });

  test.each(['v2', 'v3', 'v4'] as const)(
    'of %s pushes its parts and resolves with the complete response',
    async (version) => {
      const { response, parts } = await read(
        [
          { type: 'stream-start', warnings: [{ type: 'other', message: 'w' }] },
          { type: 'response-metadata', id: 'r1' },
          { type: 'response-metadata', modelId: 'm-2026' },
          { type: 'reasoning-start', id: '0' },
          { type: 'reasoning-delta', id: '0', delta: 'Hm.' },
          { type: 'reasoning-delta', id: '0', delta: '', providerMetadata: { anthropic: { signature: 's' } } },
          { type: 'reasoning-end', id: '0' },
          ...text('0', 'Wa', 'it.'),
          { type: 'raw', rawValue: {} },
          { type: 'ping' },
          { type: 'of the future', id: '0' },
          { type: 'tool-input-start', id: 'c1', toolName: 'f' },
          { type: 'tool-input-delta', id: 'c1', delta: '{"a"' },
          { type: 'tool-input-delta', id: 'c1', delta: ':1}' },
          { type: 'tool-input-end', id: 'c1' },
          { type: 'tool-call', toolCallId: 'c1', toolName: 'f', input: '{"a":1}' },
          ...text('0', 'More.'),
          finish(version, 'tool-calls', { providerMetadata: { anthropic: { container: 'x' } } }),
        ],
        version,
      );

      expect(parts).toEqual([
        { type: 'reasoning-delta', text: 'Hm.' },
        { type: 'text-delta', text: 'Wa' },
        { type: 'text-delta', text: 'it.' },
        { type: 'tool-input-delta', id: 'c1', name: 'f', text: '{"a"' },
        { type: 'tool-input-delta', id: 'c1', name: 'f', text: ':1}' },
        { type: 'text-delta', text: 'More.' },
      ]);
      const raw = version !== 'v2' && { finishReason: 'tool-calls' };
      expect(response).toEqual({
        content: [
          { type: 'reasoning', text: 'Hm.', providerMetadata: { anthropic: { signature: 's' }, ...origin } },
          { type: 'text', text: 'Wait.' },
          { type: 'tool-call', id: 'c1', name: 'f', input: { a: 1 } },
          { type: 'text', text: 'More.' },
        ],
        finishReason: 'tool-calls',
        usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
        providerMetadata: {
          anthropic: { container: 'x' },
          aiSdk: expect.objectContaining({
            id: 'r1',
            model: 'm-2026',
            warnings: [{ type: 'other', message: 'w' }],
            ...raw,
          }),
        },
      });
    },
  );

  test('assembles interleaved parts in the order of their starts', async () => {
    const { response } = await read([
      { type: 'text-start', id: 'a' },
      { type: 'text-start', id: 'b', providerMetadata: { openai: { itemId: 'i' } } },
      { type: 'text-delta', id: 'b', delta: '2' },
      { type: 'text-delta', id: 'a', delta: '1' },
      { type: 'text-end', id: 'b', providerMetadata: { openai: { phase: 'p' } } },
      { type: 'text-end', id: 'a' },
      { type: 'text-delta', id: 'c', delta: '3' },
      finish('v3', 'stop'),
    ]);

    expect(response?.content).toEqual([
      { type: 'text', text: '1' },
      { type: 'text', text: '2', providerMetadata: { openai: { itemId: 'i', phase: 'p' }, ...origin } },
      { type: 'text', text: '3' },
    ]);
  });

  test('keeps empty reasoning with metadata, and a signature on a call', async () => {
    const google = { google: { thoughtSignature: 's' } };
    const { response } = await read([
      { type: 'reasoning-start', id: '0', providerMetadata: { anthropic: { redactedData: 'x' } } },
      { type: 'reasoning-end', id: '0' },
      { type: 'reasoning-start', id: '1' },
      { type: 'reasoning-end', id: '1' },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'f', input: '', providerMetadata: google },
      finish('v3', 'tool-calls'),
    ]);

    expect(response?.content).toMatchObject([
      { type: 'reasoning', text: '', providerMetadata: { anthropic: { redactedData: 'x' } } },
      { type: 'tool-call', providerMetadata: google },
    ]);
  });

  test.each([
    ['no finish part', text('0', 'Once')],
    ['no parts', []],
    [
      'a finish without reason or usage',
      [...text('0', 'Once'), { type: 'finish', finishReason: 'unknown', usage: {} }],
    ],
    [
      'a finish without reason or usage, since v3',
      [...text('0', 'Once'), { type: 'finish', finishReason: { unified: 'other', raw: undefined }, usage: {} }],
    ],
  ])('with %s is rejected', async (_title, parts) => {
    expect((await read(parts)).error).toMatchObject({
      code: 'ERR_PROVIDER_FAILED',
      retryable: true,
      provider: 'anthropic',
      message: expect.stringMatching(/ended before/),
    });
  });

  test('without a finish reason is accepted if it has usage', async () => {
    const { response } = await read([...text('0', 'Hi'), finish('v2', 'unknown')], 'v2');

    expect(response).toMatchObject({ finishReason: 'other', content: [{ text: 'Hi' }] });
  });

  test.each(['google.generative-ai', 'google.vertex.chat', 'xai.chat', 'perplexity'])(
    'of %s with a running usage is rejected without a finish reason',
    async (provider) => {
      const model = scriptedModel('v2', [[...text('0', 'Hi'), finish('v2', 'unknown')]], { provider });

      expect((await call(model, {}, { streamed: true, maxRetries: 0 })).error).toMatchObject({ retryable: true });
    },
  );

  test.each([
    ['an error', new TypeError('terminated'), { retryable: true }],
    ['an error of a call', Object.assign(new Error('No'), { isRetryable: false, statusCode: 400 }), { status: 400 }],
    [
      'the JSON of an error',
      { type: 'overloaded_error', message: 'Busy' },
      { status: 529, retryable: true, message: 'Busy' },
    ],
    [
      'nested error JSON',
      { type: 'error', error: { type: 'api_error', message: 'Oh' } },
      { status: 500, message: 'Oh' },
    ],
    ['a string', 'Busy', { retryable: true, message: 'Busy' }],
    ['undefined', undefined, { message: expect.stringMatching(/stopped its answer without a reason/) }],
  ])('with %s as an error part rejects and is cancelled', async (_title, error, expected) => {
    const { error: thrown, model } = await read([...text('0', 'Once'), { type: 'error', error }, 'hang']);

    expect(thrown).toMatchObject({ code: 'ERR_PROVIDER_FAILED', ...expected });
    expect(model.cancelled).toBe(1);
    expect(model.calls).toHaveLength(1);
  });

  test('that ignores an abort is cancelled, and leaves no listener', async () => {
    const model = scriptedModel('v3', [[...text('0', 'Once'), 'hang']]);
    const controller = new AbortController();
    const reason = new DOMException('The user left.', 'AbortError');

    const { error } = await call(model, {
      signal: controller.signal,
      onPart: () => controller.abort(reason),
    });

    expect(error).toBe(reason);
    expect(model.cancelled).toBe(1);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test('that is not a ReadableStream is rejected', async () => {
    const model = { ...scriptedModel('v3', []), doStream: async () => ({ stream: [] }) };

    const generate = aiSdk(model).generate({ messages: [], tools: [], onPart: () => {} });

    await expect(generate).rejects.toMatchObject({ code: 'ERR_PROVIDER_FAILED', retryable: false });
  });
});
