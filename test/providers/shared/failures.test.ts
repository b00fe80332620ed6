import { createServer } from 'node:net';
import { inspect } from 'node:util';
import { Agent, type ModelRequest } from 'keelson';
import { fallbackModels, retryModelCalls } from 'keelson/lifecycles';
import { ProviderError } from 'keelson/openai';
import { describe, expect, test } from 'vitest';
import { fakeClock, fastClock } from '../../support/agent/fake-clock.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { call, hello, inOrder, type Outcome, pieces } from '../../support/providers/adapter-call.js';
import { type Adapter, adapters } from '../../support/providers/adapters.js';
import { type Reply, type Script, startOpenAIServer } from '../../support/providers/openai-server.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const said = { text: 'Once upon a time' };
const hi = { text: 'Hi' };

/** Returns a script that sends this reply to the first request, and a text to later requests. */
function afterwards(adapter: Adapter, reply: Reply): Script {
  return (body, index) => (index === 0 ? reply : adapter.reply(hi, body));
}

/** Calls a model whose first request fails. Its clock does not wait for the retry. */
function retried(adapter: Adapter, reply: Reply, listens = true): Promise<Outcome> {
  const request = { run: { clock: fastClock() } } as Partial<ModelRequest>;
  return call(adapter, afterwards(adapter, reply), { maxRetries: 1, listens, request });
}

describe.each(adapters)('a failure of $name', (adapter) => {
  const { provider } = adapter;
  const error = (type: string, text = 'Told why') => adapter.errorBody(type, text);
  const fail = (reply: Reply, options = {}) => call(adapter, reply, options).then((outcome) => outcome.error);

  test.each([
    [400, false],
    [401, false],
    [403, false],
    [404, false],
    [408, true],
    [409, true],
    [413, false],
    [422, false],
    [429, true],
    [500, true],
    [503, true],
    [529, true],
  ])('of status %i rejects, with retryable %s', async (status, retryable) => {
    for (const listens of [true, false]) {
      const thrown = await fail({ status, json: error('some_error') }, { listens });

      expect(thrown).toBeInstanceOf(ProviderError);
      expect(thrown).toMatchObject({
        code: 'ERR_PROVIDER_FAILED',
        name: 'ProviderError',
        provider,
        message: `${status} Told why`,
        status,
        retryable,
        retryAfterMs: undefined,
        cause: expect.any(Error),
      });
    }
  });

  test.each([
    [400, 'api_error'],
    [413, 'rate_limit_exceeded'],
  ])('of status %i is not retryable in spite of the error name %s', async (status, type) => {
    expect(await fail({ status, json: error(type) })).toMatchObject({ status, retryable: false });
  });

  test.each([
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after-ms': '1500', 'retry-after': '7' }, 1500],
    [{ 'retry-after-ms': 'soon', 'retry-after': '0.5' }, 500],
    [{ 'retry-after': 'later' }, undefined],
  ])('has the retry delay of %j and the request id', async (headers, retryAfterMs) => {
    const ids = { 'x-request-id': 'req_1', 'request-id': 'req_1' };
    const thrown = await fail({ status: 429, headers: { ...headers, ...ids }, json: error('rate_limit_error') });

    expect(thrown).toMatchObject({ retryAfterMs, retryable: true, requestId: 'req_1' });
  });

  test('follows the x-should-retry header', async () => {
    const never = await fail({ status: 500, headers: { 'x-should-retry': 'false' }, json: error('x') });
    const again = await fail({ status: 400, headers: { 'x-should-retry': 'true' }, json: error('x') });

    expect([never, again]).toMatchObject([{ retryable: false }, { retryable: true }]);
  });

  test.each<[string, Reply]>([
    ['an HTML page', { status: 502, body: `<html>${'x'.repeat(9000)}</html>` }],
    ['plain text', { status: 502, body: 'Bad gateway' }],
    ['an empty string', { status: 502, body: '' }],
  ])('with %s as body has a short message', async (_title, reply) => {
    const { message } = (await fail(reply)) as Error;

    expect(message).toMatch(/^502 /);
    expect(message.length).toBeLessThan(600);
  });

  test.each<[string, Reply, RegExp, boolean]>([
    ['an empty body', { body: '', headers: JSON_TYPE }, /body is empty|valid JSON|JSON is incomplete/, true],
    ['incomplete JSON', { body: '{"id":', headers: JSON_TYPE }, /valid JSON|JSON is incomplete/, true],
    ['a closed connection', { drop: true }, /connect.*(: .+|\(.+\))/i, true],
    ['a body that is cut off', { chunks: ['{"id":'], end: 'drop', headers: JSON_TYPE }, /./, true],
    [
      'an HTML page',
      { body: '<!doctype html>', headers: { 'content-type': 'text/html' } },
      /"<!doctype html>".*baseURL/,
      false,
    ],
  ])('without a stream is caused by %s', async (...[, reply, message, retryable]) => {
    const thrown = await fail(reply, { listens: false });

    expect(thrown).toBeInstanceOf(ProviderError);
    expect(thrown).toMatchObject({ status: undefined, retryable, message: expect.stringMatching(message) });
  });

  test.each<[string, Reply]>([
    ['an empty body', { body: '', headers: { 'content-type': 'text/event-stream' } }],
    ['no events', { chunks: [], end: 'silent' }],
    ['a closed connection', { drop: true }],
    ['a connection lost before the first event', { chunks: [], end: 'drop' }],
  ])('with a stream is caused by %s', async (_title, reply) => {
    const { error: thrown, parts } = await call(adapter, reply);

    expect(thrown).toBeInstanceOf(ProviderError);
    expect(thrown).toMatchObject({ retryable: true });
    expect(parts).toEqual([]);
  });

  test('is caused by an error body with status 200', async () => {
    const json = error('overloaded_error', 'Overloaded');
    const failed = { message: 'Overloaded', status: 529, retryable: true };

    expect(await fail({ json }, { listens: false })).toMatchObject(failed);
    const again = await retried(adapter, { json }, false);
    expect([again.response?.content, again.requests.length]).toMatchObject([[hi], 2]);
  });

  test('is caused by an unreachable server, and the message has the reason', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    await new Promise((resolve) => server.close(resolve));

    const generate = adapter.model(`http://127.0.0.1:${port}/v1`, { maxRetries: 0 }).generate(hello);

    await expect(generate).rejects.toMatchObject({ retryable: true, message: expect.stringContaining('ECONNREFUSED') });
  });

  describe('inside a stream', () => {
    const begun = adapter.begun('Once', ' upon');
    const headers = { 'x-request-id': 'req_1', 'request-id': 'req_1' };

    // In chat completions, `[DONE]` is an end, also without a finish reason.
    const ends = (['drop', 'silent', 'done'] as const).filter(
      (end) => end !== 'done' || adapter.name !== 'keelson/openai',
    );

    test.each(ends)('is caused by an early end (%s)', async (end) => {
      const outcome = await call(adapter, { chunks: begun, end, headers }, { maxRetries: 2 });

      expect(outcome.error).toMatchObject({
        code: 'ERR_PROVIDER_FAILED',
        provider,
        retryable: true,
        requestId: 'req_1',
      });
      expect(pieces(outcome.parts, 'text-delta')).toBe('Once upon');
      expect(outcome.requests).toHaveLength(1);
    });

    test.each([
      ['overloaded_error', true],
      ['rate_limit_error', true],
      ['invalid_request_error', false],
    ])('is caused by an error event with the name %s', async (type, retryable) => {
      const chunks = [...begun, adapter.errorEvent(type, 'Not now')];
      const outcome = await call(adapter, { chunks, end: 'hang', headers }, { maxRetries: 2 });

      expect(outcome.error).toMatchObject({
        message: expect.stringContaining('Not now'),
        retryable,
        requestId: 'req_1',
      });
      expect(pieces(outcome.parts, 'text-delta')).toBe('Once upon');
      expect(outcome.requests).toHaveLength(1);
      expect(await outcome.requests[0]?.closedEarly).toBe(true);
    });

    test('is retried before the first part', async () => {
      const chunks = [adapter.errorEvent('overloaded_error', 'Overloaded')];
      const outcome = await retried(adapter, { chunks, end: 'silent' });

      expect(outcome.response?.content).toMatchObject([{ type: 'text', text: 'Hi' }]);
      expect(outcome.requests).toHaveLength(2);
    });

    test('is caused by an event that is not JSON', async () => {
      const chunks = [...begun, 'data: Internal Server Error\n\n'];

      expect(await fail({ chunks, end: 'silent' })).toMatchObject({ code: 'ERR_PROVIDER_FAILED', retryable: true });
    });

    test('is the error that a listener throws, and closes the request', async () => {
      await using server = await startOpenAIServer([{ chunks: begun, end: 'hang' }]);
      const mine = new RangeError('Not my part');
      const onPart = () => {
        throw mine;
      };

      await expect(adapter.model(server.baseURL).generate({ ...hello, onPart })).rejects.toBe(mine);
      expect(await server.requests[0]?.closedEarly).toBe(true);
    });
  });

  describe('and a retry', () => {
    const soon: Reply = { status: 429, headers: { 'retry-after-ms': '20' }, json: error('rate_limit_error') };

    test('waits as long as the server says, and is made twice by default', async () => {
      await using server = await startOpenAIServer([soon]);
      const model = adapter.model(server.baseURL);
      const started = performance.now();

      await expect(model.generate(hello)).rejects.toMatchObject({ status: 429, retryAfterMs: 20 });
      expect(server.requests).toHaveLength(3);
      expect(performance.now() - started).toBeGreaterThan(38);
    });

    test('waits on the clock of the run', async () => {
      const limited: Reply = { ...soon, headers: { 'retry-after': '50' } };
      await using server = await startOpenAIServer(afterwards(adapter, limited));
      const clock = fakeClock();

      const run = new Agent({ model: adapter.model(server.baseURL), clock }).run('Hello');
      await expect.poll(() => clock.delays).toEqual([50_000]);
      clock.advance(50_000);

      expect((await run).text).toBe('Hi');
    });

    test.each<[string, Reply]>([
      ['a status', { status: 503, headers: { 'retry-after-ms': '1' }, json: error('overloaded_error') }],
      ['a lost connection', { drop: true }],
    ])('follows %s', async (_title, reply) => {
      for (const listens of 'drop' in reply ? [true] : [true, false]) {
        const outcome = await retried(adapter, reply, listens);

        expect(outcome.response?.content).toMatchObject([{ type: 'text', text: 'Hi' }]);
        expect(pieces(outcome.parts, 'text-delta')).toBe(listens ? 'Hi' : '');
        expect(outcome.requests).toHaveLength(2);
      }
    });

    test('is left to a lifecycle with maxRetries 0, and the lifecycle waits as the server says', async () => {
      const limited: Reply = { ...soon, headers: { 'retry-after': '20' } };
      await using server = await startOpenAIServer([limited]);
      await using other = await startOpenAIServer(inOrder(adapter, hi));
      const clock = fastClock();
      const lifecycle = [retryModelCalls(), fallbackModels([adapter.model(other.baseURL, { maxRetries: 0 })])];
      const model = adapter.model(server.baseURL, { maxRetries: 0 });

      expect((await new Agent({ model, lifecycle, clock, logger: keepingLogger() }).run('Hello')).text).toBe('Hi');
      expect(clock.now()).toBe(40_000);
      expect([server.requests.length, other.requests.length]).toEqual([3, 1]);
    });

    test.each<[string, Reply]>([
      ['a bad request', { status: 400, json: error('invalid_request_error') }],
      [
        'a retry delay of an hour',
        { status: 429, headers: { 'retry-after': '3600' }, json: error('rate_limit_error') },
      ],
    ])('does not follow %s', async (_title, reply) => {
      expect((await call(adapter, reply, { maxRetries: 2 })).requests).toHaveLength(1);
    });
  });

  test('does not reveal the API key', async () => {
    const apiKey = 'sk-very-secret';
    const replies: Reply[] = [
      { status: 401, json: error('authentication_error') },
      { status: 500, body: '' },
      { drop: true },
      { chunks: adapter.begun('Once'), end: 'drop' },
      { body: '{', headers: JSON_TYPE },
    ];
    for (const reply of replies) {
      const thrown = await fail(reply, { apiKey, headers: { 'x-mine': apiKey } });
      expect(inspect(thrown, { depth: 9, showHidden: true }) + JSON.stringify(thrown)).not.toContain(apiKey);
    }
    const unsendable = await fail(adapter.reply(said), { apiKey: `${apiKey}\n${apiKey}` });
    expect(unsendable).toMatchObject({ code: 'ERR_PROVIDER_FAILED', retryable: false });
    expect(inspect(unsendable, { depth: 9, showHidden: true })).not.toContain(apiKey);
  });
});
