import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { ModelResponse } from '../../../src/model/model.js';
import { exchange, streamedExchange } from '../../support/providers/openai-exchange.js';
import type { Reply } from '../../support/providers/openai-server.js';

interface Sample {
  readonly file: string;
  readonly response: ModelResponse;
  /** The text and reasoning deltas, as `text|…` and `reasoning|…`. */
  readonly deltas?: readonly string[];
}

const model = 'gpt-5-mini';
const call = (id: string, name: string, input: unknown) => ({ type: 'tool-call' as const, id, name, input });
const from = (id: string, served: string) => ({ openai: { id, model: served } });

const streams: readonly Sample[] = [
  {
    file: 'openai-parallel-calls.sse',
    response: {
      content: [call('call_Zq1', 'get_weather', { city: 'Zürich' }), call('call_Zq2', 'get_time', { zone: 'CET' })],
      finishReason: 'tool-calls',
      usage: { inputTokens: 1310, outputTokens: 192, totalTokens: 1502, cachedInputTokens: 1152, reasoningTokens: 128 },
      providerMetadata: from('chatcmpl-C9pXq1', 'gpt-5-mini-2025-08-07'),
    },
  },
  {
    file: 'ollama-same-index.sse',
    deltas: ['reasoning|Two cities', 'reasoning|, two calls.'],
    response: {
      content: [
        {
          type: 'reasoning',
          text: 'Two cities, two calls.',
          providerMetadata: { openai: { model, field: 'reasoning' } },
        },
        call('call_8x1', 'get_weather', { city: 'Oslo' }),
        call('call_8x2', 'get_weather', { city: 'Malmö' }),
      ],
      finishReason: 'tool-calls',
      usage: { inputTokens: 169, outputTokens: 88, totalTokens: 257 },
      providerMetadata: from('chatcmpl-462', 'qwen3:8b'),
    },
  },
  {
    file: 'vllm-reasoning.sse',
    deltas: ['reasoning|Add ', 'reasoning|them.', 'text|2 + 2 = 4 — ', 'text|四。'],
    response: {
      content: [
        {
          type: 'reasoning',
          text: 'Add them.',
          providerMetadata: { openai: { model, field: 'reasoning_content' } },
        },
        { type: 'text', text: '2 + 2 = 4 — 四。' },
      ],
      finishReason: 'stop',
      usage: { inputTokens: 17, outputTokens: 29, totalTokens: 46 },
      providerMetadata: from('chatcmpl-7f0c', 'Qwen/Qwen3-32B'),
    },
  },
  {
    file: 'llama-cpp-tool-call.sse',
    response: {
      content: [call('8Zk2oYk3cVbJr1Nw', 'add', { a: 1, b: 2 })],
      finishReason: 'tool-calls',
      usage: { inputTokens: 310, outputTokens: 24, totalTokens: 334 },
      providerMetadata: from('chatcmpl-qC6laQ', 'gemma-3-12b-it-Q4_K_M.gguf'),
    },
  },
  {
    file: 'openrouter-reasoning.sse',
    deltas: ['reasoning|I should ', 'reasoning|look.'],
    response: {
      content: [
        {
          type: 'reasoning',
          text: 'I should look.',
          providerMetadata: {
            openai: {
              model,
              fields: {
                reasoning_details: [
                  {
                    type: 'reasoning.text',
                    text: 'I should look.',
                    signature: 'EqQB',
                    format: 'anthropic-claude-v1',
                    index: 0,
                  },
                ],
              },
            },
          },
        },
        call('toolu_01', 'look', {}),
      ],
      finishReason: 'tool-calls',
      usage: { inputTokens: 560, outputTokens: 120, totalTokens: 680, cachedInputTokens: 512, reasoningTokens: 40 },
      providerMetadata: from('gen-1757-Ab', 'anthropic/claude-sonnet-4.5'),
    },
  },
  {
    file: 'deepseek-tool-call.sse',
    deltas: ['reasoning|先查', 'reasoning|日期'],
    response: {
      content: [
        { type: 'reasoning', text: '先查日期', providerMetadata: { openai: { model, field: 'reasoning_content' } } },
        call('call_00_kw', 'get_date', {}),
      ],
      finishReason: 'tool-calls',
      usage: { inputTokens: 318, outputTokens: 52, totalTokens: 370, cachedInputTokens: 256, reasoningTokens: 31 },
      providerMetadata: from('930c60df', 'deepseek-reasoner'),
    },
  },
  {
    file: 'gemini-tool-call.sse',
    response: {
      content: [
        {
          ...call('function-call-1', 'get_weather', { city: 'Köln' }),
          providerMetadata: {
            openai: { model, fields: { extra_content: { google: { thought_signature: 'CiQBjz1rX' } } } },
          },
        },
        call('function-call-2', 'get_weather', { city: 'Bonn' }),
      ],
      finishReason: 'tool-calls',
      usage: { inputTokens: 64, outputTokens: 18, totalTokens: 191 },
      providerMetadata: from('k3HFaI', 'gemini-3-pro-preview'),
    },
  },
  {
    file: 'azure-content-filter.sse',
    deltas: ['text|Half a'],
    response: {
      content: [{ type: 'text', text: 'Half a' }],
      finishReason: 'content-filter',
      usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
      providerMetadata: from('chatcmpl-AZ', 'gpt-4.1-2025-04-14'),
    },
  },
];

const wholes: readonly Sample[] = [
  {
    file: 'openai-completion.json',
    response: {
      content: [{ type: 'text', text: 'Grüezi! Wie kann ich helfen?' }],
      finishReason: 'stop',
      usage: { inputTokens: 19, outputTokens: 10, totalTokens: 29, cachedInputTokens: 0, reasoningTokens: 0 },
      providerMetadata: from('chatcmpl-B9MHDb', 'gpt-4.1-2025-04-14'),
    },
  },
  {
    file: 'ollama-completion.json',
    response: {
      content: [
        {
          type: 'reasoning',
          text: 'The capital of France.',
          providerMetadata: { openai: { model, field: 'reasoning' } },
        },
        { type: 'text', text: 'Paris.' },
      ],
      finishReason: 'stop',
      usage: { inputTokens: 21, outputTokens: 140, totalTokens: 161 },
      providerMetadata: from('chatcmpl-311', 'qwen3:8b'),
    },
  },
  {
    file: 'lm-studio-tool-call.json',
    response: {
      content: [{ type: 'text', text: '\n\n' }, call('365174485', 'search', { query: 'naïve' })],
      finishReason: 'tool-calls',
      usage: { inputTokens: 263, outputTokens: 34, totalTokens: 297 },
      providerMetadata: from('chatcmpl-lmx', 'qwen2.5-7b-instruct'),
    },
  },
];

describe.each(streams)('the stream in $file', ({ file, response, deltas = [] }) => {
  test.each([undefined, 1, 5, 64])('gives the same response in chunks of %s bytes', async (splitBytes) => {
    const reply: Reply = { chunks: [wire(file)], end: 'silent', ...(splitBytes !== undefined && { splitBytes }) };

    const got = await streamedExchange(reply);

    expect(got.error).toBeUndefined();
    expect(got.response).toEqual(response);
    const shown = got.parts.filter(({ type }) => type !== 'tool-input-delta');
    expect(shown.map(({ type, text }) => `${type.replace('-delta', '')}|${text}`)).toEqual(deltas);
  });
});

test.each(wholes)('reads the completion in $file', async ({ file, response }) => {
  const got = await exchange({ json: JSON.parse(wire(file)) });

  expect(got.error).toBeUndefined();
  expect(got.response).toEqual(response);
});

test('rejects an error in a stream of OpenRouter with the status in the error', async () => {
  const { error, parts } = await streamedExchange({ chunks: [wire('openrouter-error.sse')], end: 'silent' });

  expect(error).toMatchObject({
    code: 'ERR_PROVIDER_FAILED',
    message: 'Provider disconnected unexpectedly',
    status: 502,
    retryable: true,
  });
  expect(parts).toEqual([{ type: 'text-delta', text: 'One mo' }]);
});

function wire(file: string): string {
  return readFileSync(new URL(`../../fixtures/openai/${file}`, import.meta.url), 'utf8');
}
