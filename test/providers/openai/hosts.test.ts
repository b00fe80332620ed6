import { readFileSync } from 'node:fs';
import { OpenAI } from 'openai';
import { describe, expect, test } from 'vitest';
import type { FinishReason, ModelResponse, Usage } from '../../../src/model/model.js';
import { streamedExchange } from '../../support/providers/openai-exchange.js';
import { type Reply, startOpenAIServer } from '../../support/providers/openai-server.js';

interface Sample {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly [id: string, name: string, input: unknown][];
  readonly finishReason: FinishReason;
  readonly usage: Usage;
}

const samples: Record<string, Sample> = {
  'anthropic-tool-calls.sse': {
    text: 'I look.',
    calls: [
      ['toolu_01A', 'look', { at: 'a' }],
      ['toolu_01B', 'list', {}],
    ],
    finishReason: 'tool-calls',
    usage: { inputTokens: 402, outputTokens: 71, totalTokens: 473 },
  },
  'azure-text.sse': {
    text: 'Yes.',
    finishReason: 'stop',
    usage: { inputTokens: 21, outputTokens: 3, totalTokens: 24, cachedInputTokens: 0, reasoningTokens: 0 },
  },
  'dashscope-tool-call.sse': {
    calls: [['call_477c', 'run', { action: { cmd: 'ls -l' } }]],
    finishReason: 'tool-calls',
    usage: { inputTokens: 301, outputTokens: 25, totalTokens: 326, cachedInputTokens: 0 },
  },
  'gemini-text.sse': {
    text: 'Four.',
    finishReason: 'stop',
    usage: { inputTokens: 9, outputTokens: 2, totalTokens: 81 },
  },
  'gemini-thoughts.sse': {
    text: 'Six legs.',
    reasoning: 'Two legs each, three birds.\n',
    finishReason: 'stop',
    usage: { inputTokens: 14, outputTokens: 5, totalTokens: 93 },
  },
  'glm-tool-call.sse': {
    text: '\n好的',
    reasoning: '查询',
    calls: [['call_-7820', 'search', { q: '北京' }]],
    finishReason: 'tool-calls',
    usage: { inputTokens: 171, outputTokens: 30, totalTokens: 201, cachedInputTokens: 43 },
  },
  'groq-tool-call.sse': {
    reasoning: 'Need the weather.',
    calls: [['fc_5d0e', 'get_weather', { city: 'Basel' }]],
    finishReason: 'tool-calls',
    usage: { inputTokens: 141, outputTokens: 47, totalTokens: 188, reasoningTokens: 12 },
  },
  'llama-cpp-python-both.sse': {
    calls: [['call__0_add_fe', 'add', { a: 1 }]],
    finishReason: 'tool-calls',
    usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
  },
  'mistral-thinking.sse': {
    text: 'It is 42.',
    reasoning: 'Six times seven.',
    finishReason: 'stop',
    usage: { inputTokens: 11, outputTokens: 49, totalTokens: 60 },
  },
  'moonshot-tool-calls.sse': {
    reasoning: 'Both.',
    calls: [
      ['functions.get_time:0', 'get_time', { zone: 'CET' }],
      ['functions.get_time:1', 'get_time', { zone: 'UTC' }],
    ],
    finishReason: 'tool-calls',
    usage: { inputTokens: 83, outputTokens: 66, totalTokens: 149, cachedInputTokens: 64 },
  },
  'nim-repeated-name.sse': {
    calls: [['chatcmpl-tool-1', 'read_file', { path: 'a.md' }]],
    finishReason: 'tool-calls',
    usage: { inputTokens: 90, outputTokens: 20, totalTokens: 110 },
  },
  'tgi-tool-call.sse': {
    calls: [['0', 'get_tide', { at: 'Brest' }]],
    finishReason: 'tool-calls',
    usage: { inputTokens: 213, outputTokens: 17, totalTokens: 230 },
  },
  'together-text.sse': {
    text: 'Hello world',
    finishReason: 'stop',
    usage: { inputTokens: 36, outputTokens: 3, totalTokens: 39, cachedInputTokens: 0 },
  },
  'xai-tool-call.sse': {
    reasoning: 'Thinking... ',
    calls: [['call_71', 'look', {}]],
    finishReason: 'tool-calls',
    usage: { inputTokens: 300, outputTokens: 152, totalTokens: 452, cachedInputTokens: 299, reasoningTokens: 140 },
  },
};

describe.each(Object.entries(samples))('the stream in %s', (file, sample) => {
  test.each([undefined, 1, 7])('gives the same response in chunks of %s bytes', async (splitBytes) => {
    const reply: Reply = { chunks: [wire(file)], end: 'silent', ...(splitBytes !== undefined && { splitBytes }) };

    const { response, error, parts } = await streamedExchange(reply);

    expect(error).toBeUndefined();
    expect(summaryOf(response)).toEqual(sample);
    const shown = (type: string) => parts.flatMap((part) => (part.type === type ? [part.text] : [])).join('');
    expect(shown('text-delta')).toBe(sample.text ?? '');
    expect(shown('reasoning-delta')).toBe(sample.reasoning ?? '');
  });

  test('gives the same response with an existing client', async () => {
    await using server = await startOpenAIServer([{ chunks: [wire(file)], end: 'silent' }]);
    const client = new OpenAI({ baseURL: server.baseURL, apiKey: 'k' });

    const { response } = await streamedExchange({ drop: true }, {}, { client, baseURL: undefined });

    expect(summaryOf(response)).toEqual(sample);
  });
});

test('keeps the signature beside a text part of Gemini', async () => {
  const { response } = await streamedExchange({ chunks: [wire('gemini-text.sse')], end: 'silent' });

  const fields = { extra_content: { google: { thought_signature: 'EpAB' } } };
  expect(response?.content).toMatchObject([{ type: 'text', providerMetadata: { openai: { fields } } }]);
});

function summaryOf(response: ModelResponse | undefined): Sample | undefined {
  if (!response) return undefined;
  const { content, finishReason, usage } = response;
  const textOf = (type: string) => content.flatMap((part) => (part.type === type && 'text' in part ? [part.text] : []));
  const [text, reasoning] = [textOf('text').join(''), textOf('reasoning').join('')];
  const calls = content.flatMap((part) =>
    part.type === 'tool-call' ? [[part.id, part.name, part.input] as [string, string, unknown]] : [],
  );
  return {
    ...(text !== '' && { text }),
    ...(reasoning !== '' && { reasoning }),
    ...(calls.length > 0 && { calls }),
    finishReason,
    usage,
  };
}

function wire(file: string): string {
  return readFileSync(new URL(`../../fixtures/openai/${file}`, import.meta.url), 'utf8');
}
