import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { checkResponse } from '../../src/model/check-response.js';
import type { ModelResponse } from '../../src/model/model.js';
import { ModelError, ResponseInvalidError } from '../../src/model/run-error.js';

describe('a ModelError', () => {
  test.each<[unknown, boolean]>([
    [{ status: 408 }, true],
    [{ status: 409 }, true],
    [{ status: 429 }, true],
    [{ status: 500 }, true],
    [{ status: 503 }, true],
    [{ status: 529 }, true],
    [{ status: 400 }, false],
    [{ status: 401 }, false],
    [{ status: 404 }, false],
    [{ status: 422 }, false],
    [{ status: '503' }, false],
    [{}, false],
    ['down', false],
    [null, false],
    [undefined, false],
    [{ status: 400, retryable: true }, true],
    [{ status: 500, retryable: false }, false],
  ])('of %j may be retried: %s', (cause, retryable) => {
    expect(new ModelError('m', cause)).toMatchObject({ retryable, cause, model: 'm', code: 'ERR_MODEL_FAILED' });
  });

  test('keeps `status` and `retryAfterMs` of its cause only if they are numbers', () => {
    expect(new ModelError('m', { status: 429, retryAfterMs: 5 })).toMatchObject({ status: 429, retryAfterMs: 5 });
    expect(new ModelError('m', { status: '429', retryAfterMs: '5' })).toMatchObject({
      status: undefined,
      retryAfterMs: undefined,
    });
  });

  test('has a name, and no messages before the run attaches its state', () => {
    const error = new ModelError('m', new Error('down'));

    expect([error.name, error.message]).toEqual(['ModelError', 'Model "m" failed: down']);
    expect([error.messages, error.history, error.usage.totalTokens]).toEqual([[], [], 0]);
  });

  test.each([
    ['an error', "new TypeError('down')"],
    ['an aggregate error', "new AggregateError([new Error('down')])"],
    ['a serialized error', "({ name: 'TypeError', message: 'down', stack: 'TypeError: down' })"],
  ])('shows the message of %s from another realm', (_title, code) => {
    expect(new ModelError('m', runInNewContext(code)).message).toBe('Model "m" failed: down');
  });

  test.each<[object, string]>([
    [{ stack: 'LAMP', code: 3 }, '{"stack":"LAMP","code":3}'],
    [{ stack: 'x', name: 'NoSpace' }, 'NoSpace'],
  ])('describes %j, which has a stack but is not an error', (cause, text) => {
    expect(new ModelError('m', cause).message).toBe(`Model "m" failed: ${text}`);
  });

  test('serializes to JSON with its message, code, usage and messages', () => {
    const cause = { status: 429, retryAfterMs: 5, headers: new Map() };

    expect(JSON.parse(JSON.stringify({ error: new ModelError('m', cause) }))).toEqual({
      error: {
        name: 'ModelError',
        message: 'Model "m" failed: {"status":429,"retryAfterMs":5,"headers":{}}',
        code: 'ERR_MODEL_FAILED',
        ...{ model: 'm', status: 429, retryable: true, retryAfterMs: 5 },
        ...{ messages: [], history: [], usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 } },
      },
    });
  });
});

describe('checkResponse', () => {
  test('returns a valid response unchanged', () => {
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    const response: ModelResponse = { content: [{ type: 'text', text: '' }], finishReason: 'stop', usage };

    expect(checkResponse(response)).toBe(response);
  });

  test('keeps an invalid response on its error', () => {
    const response = { content: 'x' };
    let thrown: unknown;
    try {
      checkResponse(response as unknown as ModelResponse);
    } catch (error) {
      thrown = error;
    }

    expect(thrown).toBeInstanceOf(ResponseInvalidError);
    expect(thrown).toMatchObject({ code: 'ERR_RESPONSE_INVALID', retryable: false, response });
  });
});
