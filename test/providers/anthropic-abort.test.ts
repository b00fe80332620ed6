import { getEventListeners } from 'node:events';
import { anthropic } from 'keelson/anthropic';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { ModelPart } from '../../src/model/model.js';
import { eventsOf, startAnthropicServer, stream, text } from '../support/anthropic-server.js';
import { hello } from '../support/openai-exchange.js';
import type { OpenAIServer, Reply } from '../support/openai-server.js';

afterEach(() => vi.restoreAllMocks());

const reason = new DOMException('The user left.', 'AbortError');
const begun = eventsOf({ content: [text('Once upon a time')] }).slice(0, 4);

/** Calls a model, aborts once the server has the request, and tells how it went. */
async function aborted(server: OpenAIServer, onPart?: (part: ModelPart) => void) {
  const controller = new AbortController();
  const call = anthropic('m', { baseURL: server.baseURL }).generate({ ...hello, signal: controller.signal, onPart });
  const outcome = call.then(
    () => 'resolved',
    (error: unknown) => error,
  );
  while (server.requests.length === 0) await pause(2);
  await pause(20);
  controller.abort(reason);
  return { error: await outcome, signal: controller.signal };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('an abort', () => {
  test.each<[string, Reply]>([
    ['before the answer', { json: {}, delayMs: 5000 }],
    ['inside a stream', { chunks: begun, end: 'hang' }],
    ['inside a body', { chunks: ['{"content":'], end: 'hang', headers: { 'content-type': 'application/json' } }],
  ])('%s rejects at once with its reason, and closes the request', async (title, reply) => {
    await using server = await startAnthropicServer([reply]);

    const { error, signal } = await aborted(server, title === 'inside a stream' ? () => {} : undefined);

    expect(error).toBe(reason);
    expect(await server.requests[0]?.closedEarly).toBe(true);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('ends the wait before a retry, and leaves no timer that keeps the process alive', async () => {
    await using server = await startAnthropicServer([{ status: 429, headers: { 'retry-after': '30' }, json: {} }]);
    const set = vi.spyOn(globalThis, 'setTimeout');
    const cleared = vi.spyOn(globalThis, 'clearTimeout');

    const { error } = await aborted(server);

    expect(error).toBe(reason);
    expect(server.requests).toHaveLength(1);
    const wait = set.mock.results[set.mock.calls.findIndex(([, ms]) => ms === 30_000)]?.value;
    expect(cleared.mock.calls.map(([timer]) => timer)).toContain(wait);
  });

  test('is followed by no wait for another try', async () => {
    await using server = await startAnthropicServer([{ json: {}, delayMs: 5000 }]);
    const set = vi.spyOn(globalThis, 'setTimeout');

    await aborted(server);
    await server.requests[0]?.closedEarly;
    await pause(20);

    expect(set.mock.calls.filter(([, ms = 0]) => ms >= 300 && ms <= 600)).toEqual([]);
  });

  test('that came before the call sends nothing', async () => {
    await using server = await startAnthropicServer([{ json: {} }]);
    const model = anthropic('m', { baseURL: server.baseURL });

    await expect(model.generate({ ...hello, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(server.requests).toEqual([]);
  });

  test('from inside a listener is followed by no further part', async () => {
    await using server = await startAnthropicServer([
      { chunks: [[...begun, begun[3], begun[3]].join('')], end: 'hang' },
    ]);
    const controller = new AbortController();
    const parts: ModelPart[] = [];
    const onPart = (part: ModelPart) => {
      parts.push(part);
      controller.abort(reason);
    };

    const call = anthropic('m', { baseURL: server.baseURL }).generate({ ...hello, signal: controller.signal, onPart });

    await expect(call).rejects.toBe(reason);
    await server.requests[0]?.closedEarly;
    expect(parts).toHaveLength(1);
  });
});

test('a long-lived signal has no listener left after many calls', async () => {
  await using server = await startAnthropicServer([stream({ content: [text('Hi')] })]);
  const { signal } = new AbortController();
  const model = anthropic('m', { baseURL: server.baseURL });

  for (let call = 0; call < 5; call += 1) {
    await model.generate({ ...hello, signal });
    await model.generate({ ...hello, signal, onPart: () => {} });
  }

  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
