import { getEventListeners } from 'node:events';
import { Agent, ModelError, type Timeouts } from 'keelson';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { ModelPart } from '../../../src/model/model.js';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { hello } from '../../support/providers/adapter-call.js';
import { type Adapter, adapters } from '../../support/providers/adapters.js';
import { eventBytes, type OpenAIServer, type Reply, startOpenAIServer } from '../../support/providers/openai-server.js';

afterEach(() => vi.restoreAllMocks());

const reason = new DOMException('The user left.', 'AbortError');
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
/** A server with this reply never answers. */
const never = new Promise<Reply>(() => {});

interface AbortedCall {
  readonly onPart?: ((part: ModelPart) => void) | undefined;
  /** True when the call may be aborted. Default: when the server has the request. */
  readonly isReady?: () => boolean;
}

/** Calls a model, aborts the call, and returns the outcome. */
async function aborted(adapter: Adapter, server: OpenAIServer, { onPart, isReady }: AbortedCall = {}) {
  const controller = new AbortController();
  const call = adapter.model(server.baseURL).generate({ ...hello, signal: controller.signal, onPart });
  const outcome = call.catch((error: unknown) => error);
  while (!(isReady?.() ?? server.requests.length > 0)) await pause(2);
  await pause(20);
  controller.abort(reason);
  return { error: await outcome, signal: controller.signal };
}

describe.each(adapters)('an abort of $name', (adapter) => {
  const limited = (seconds: string): Reply => ({
    status: 429,
    headers: { 'retry-after': seconds },
    json: adapter.errorBody('rate_limit_error', 'Slow down'),
  });
  const begun = adapter.begun('Once', ' upon', ' a time');

  test.each<[string, Reply | Promise<Reply>, boolean]>([
    ['before the answer', never, false],
    ['before the stream', never, true],
    ['inside a stream', { chunks: begun, end: 'hang' }, true],
    ['inside a stream without events', { chunks: [], end: 'hang' }, true],
    ['inside a body', { chunks: ['{"id":'], end: 'hang', headers: { 'content-type': 'application/json' } }, false],
    ['inside an error body', { status: 500, chunks: ['{"error":'], end: 'hang' }, false],
  ])('%s rejects at once with its reason, and closes the request', async (_title, reply, listens) => {
    await using server = await startOpenAIServer(() => reply);

    const { error, signal } = await aborted(adapter, server, { onPart: listens ? () => {} : undefined });

    expect(error).toBe(reason);
    expect(await server.requests[0]?.closedEarly).toBe(true);
    expect(server.requests).toHaveLength(1);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('ends the delay before a retry, and leaves no timer that keeps the process alive', async () => {
    await using server = await startOpenAIServer([limited('30')]);
    const set = vi.spyOn(globalThis, 'setTimeout');
    const cleared = vi.spyOn(globalThis, 'clearTimeout');

    const isReady = () => set.mock.calls.some(([, ms]) => ms === 30_000);
    const { error, signal } = await aborted(adapter, server, { isReady });

    expect(error).toBe(reason);
    expect(server.requests).toHaveLength(1);
    const wait = set.mock.results[set.mock.calls.findIndex(([, ms]) => ms === 30_000)]?.value;
    expect(cleared.mock.calls.map(([timer]) => timer)).toContain(wait);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('is not followed by a delay for a retry', async () => {
    await using server = await startOpenAIServer(() => never);
    const set = vi.spyOn(globalThis, 'setTimeout');

    await aborted(adapter, server);
    await server.requests[0]?.closedEarly;
    await pause(20);

    expect(set.mock.calls.filter(([, ms = 0]) => ms >= 300 && ms <= 600)).toEqual([]);
  });

  test('before the call sends nothing', async () => {
    await using server = await startOpenAIServer([{ json: {} }]);
    const model = adapter.model(server.baseURL);

    await expect(model.generate({ ...hello, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(server.requests).toEqual([]);
  });

  test('from inside a listener stops further parts', async () => {
    await using server = await startOpenAIServer([{ chunks: [Buffer.concat(begun.map(eventBytes))], end: 'hang' }]);
    const controller = new AbortController();
    const parts: ModelPart[] = [];
    const onPart = (part: ModelPart) => {
      parts.push(part);
      controller.abort(reason);
    };

    const call = adapter.model(server.baseURL).generate({ ...hello, signal: controller.signal, onPart });

    await expect(call).rejects.toBe(reason);
    await server.requests[0]?.closedEarly;
    expect(parts).toEqual([{ type: 'text-delta', text: 'Once' }]);
  });

  test('after the response does nothing, and no call leaves a listener', async () => {
    await using server = await startOpenAIServer((body, index) =>
      index % 3 === 2 ? limited('3600') : adapter.reply({ text: 'Hi' }, body),
    );
    const controller = new AbortController();
    const { signal } = controller;
    const model = adapter.model(server.baseURL);

    for (let call = 0; call < 3; call += 1) {
      await model.generate({ ...hello, signal });
      const { content } = await model.generate({ ...hello, signal, onPart: () => {} });
      expect(content).toMatchObject([{ text: 'Hi' }]);
      await expect(model.generate({ ...hello, signal, onPart: () => {} })).rejects.toMatchObject({ status: 429 });
    }

    expect(getEventListeners(signal, 'abort')).toEqual([]);
    controller.abort(reason);
    await pause(5);
  });

  test('by ending the iteration of a run closes the request', async () => {
    await using server = await startOpenAIServer([{ chunks: begun, end: 'hang' }]);
    const agent = new Agent({ model: adapter.model(server.baseURL) });

    for await (const event of agent.stream('A story')) if (event.type === 'text-delta') break;

    expect(await server.requests[0]?.closedEarly).toBe(true);
  });

  test.each<[string, Timeouts, Reply | Promise<Reply>]>([
    ['first part', { firstPartMs: 50 }, { chunks: [], end: 'hang' }],
    ['first part, without a response', { firstPartMs: 50 }, never],
    ['complete response', { firstPartMs: 70, modelMs: 60 }, { chunks: begun, end: 'hang' }],
  ])('by the timeout of the %s closes the request, and the request is not retried', async (_title, timeouts, reply) => {
    await using server = await startOpenAIServer(() => reply);
    const clock = fakeClock();
    const agent = new Agent({ model: adapter.model(server.baseURL), timeouts, clock });

    const run = agent.run('A story').catch((thrown: unknown) => thrown);
    await expect.poll(() => server.requests).toHaveLength(1);
    await pause(20);
    clock.advance(60);
    const error = await run;

    expect(error).toBeInstanceOf(ModelError);
    expect(error).toMatchObject({ cause: { code: 'ERR_TIMEOUT' }, retryable: true });
    expect(await server.requests[0]?.closedEarly).toBe(true);
    await pause(20);
    expect(server.requests).toHaveLength(1);
  });
});
