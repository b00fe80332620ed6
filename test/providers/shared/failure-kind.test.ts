import { readFileSync } from 'node:fs';
import { Agent } from 'keelson';
import { anthropic } from 'keelson/anthropic';
import { openai } from 'keelson/openai';
import { describe, expect, test } from 'vitest';
import { toFailure } from '../../../src/providers/ai-sdk/failure.js';
import { interrupted, type ProviderError } from '../../../src/providers/shared/error.js';
import { toProviderError } from '../../../src/providers/shared/failure.js';
import { startAnthropicServer } from '../../support/providers/anthropic-server.js';
import { startOpenAIServer } from '../../support/providers/openai-server.js';

interface Wording {
  readonly service: string;
  readonly kind: string;
  readonly status: number | null;
  readonly error: Readonly<Record<string, unknown>> | null;
  readonly source: string;
  /** The day of the report or of the last change of the page. */
  readonly date: string;
}

const wordings: readonly Wording[] = JSON.parse(
  readFileSync(new URL('../../fixtures/failures/wordings.json', import.meta.url), 'utf8'),
);

const texts = wordings.map((wording) => [`${wording.service}, ${wording.status}, ${wording.kind}`, wording] as const);

describe('the kind of a failure', () => {
  test.each(texts)('is read from the error of the client: %s %#', (_, { kind, status, error }) => {
    const thrown = Object.assign(new Error(`${status} status code (no body)`), {
      ...(status !== null && { status }),
      ...(error !== null && { error, code: error.code, type: error.type }),
    });

    expect(toProviderError('test', thrown)).toMatchObject({ kind });
  });

  test.each(texts.filter(([, { status }]) => status !== null))(
    'is read from the error of the AI SDK: %s %#',
    (_, { kind, status, error }) => {
      const responseBody = error === null ? '' : JSON.stringify({ error });
      const thrown = { message: String(error?.message ?? ''), statusCode: status, isRetryable: false, responseBody };

      expect(toFailure('test', thrown)).toMatchObject({ kind });
    },
  );

  test('is read from an error inside a stream, which has no status', () => {
    for (const { kind, error, status } of wordings) {
      const isNamed = error !== null && kind !== 'invalid-request' && status !== 402 && status !== 502;
      if (isNamed) expect(toProviderError('test', { error }), JSON.stringify(error)).toMatchObject({ kind });
    }
  });

  test('has wordings of more than twenty services, each with its source', () => {
    expect(new Set(wordings.map(({ service }) => service)).size).toBeGreaterThan(20);
    expect(new Set(wordings.map(({ kind }) => kind)).size).toBe(9);
    for (const { source, date } of wordings) {
      expect(source).toMatch(/^https:\/\//);
      expect(date).toMatch(/^(?:\d{4}-\d\d-\d\d|unknown)$/);
    }
  });

  test('is a quota that is used up, which no retry brings back, also with status 429', () => {
    for (const { error, status, kind } of wordings) {
      if (kind !== 'quota') continue;
      const thrown = Object.assign(new Error('refused'), { status, error, code: error?.code, type: error?.type });
      expect(toProviderError('test', thrown)).toMatchObject({ kind, retryable: false });
      const responseBody = JSON.stringify({ error });
      const sdk = { message: '', statusCode: status, isRetryable: true, responseBody };
      expect(toFailure('test', sdk)).toMatchObject({ kind, retryable: false });
    }
  });

  test('is network for a lost connection and a stream that ended early', () => {
    const lost = Object.assign(new TypeError('fetch failed'), { cause: new Error('ECONNRESET') });

    expect(toProviderError('test', lost)).toMatchObject({ kind: 'network', retryable: true });
    expect(toProviderError('test', new SyntaxError('Unexpected end of JSON input'))).toMatchObject({ kind: 'network' });
    expect(interrupted('test').kind).toBe('network');
  });
});

test('a ModelError has the kind that the service gives', async () => {
  const [groq] = wordings.filter(({ kind, service }) => kind === 'context-overflow' && service === 'Groq');
  const [claude] = wordings.filter(({ kind, service }) => kind === 'context-overflow' && service === 'Anthropic');
  await using chat = await startOpenAIServer(() => ({ status: 400, json: { error: groq?.error } }));
  await using messages = await startAnthropicServer(() => ({ status: 400, json: claude?.error }));
  const models = [
    openai('m', { baseURL: chat.baseURL, apiKey: 'k' }),
    anthropic('m', { baseURL: messages.baseURL, apiKey: 'k' }),
  ];

  for (const model of models) {
    const failure = await new Agent({ model }).run('Hi').catch((error: unknown) => error as ProviderError);
    expect(failure).toMatchObject({ code: 'ERR_MODEL_FAILED', kind: 'context-overflow', status: 400 });
  }
});
