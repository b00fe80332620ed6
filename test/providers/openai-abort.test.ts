import { getEventListeners } from 'node:events';
import { openai } from 'keelson/openai';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { ModelPart } from '../../src/model/model.js';
import { hello } from '../support/openai-exchange.js';
import { chunk, replyWith } from '../support/openai-reply.js';
import { type OpenAIServer, type Reply, startOpenAIServer } from '../support/openai-server.js';

afterEach(() => vi.restoreAllMocks());

const reason = new DOMException('The user left.', 'AbortError');
const begun = chunk({ content: 'Once upon' });

/** Calls a model, aborts once the server has the request, and tells how it went. */
async function aborted(server: OpenAIServer, onPart?: (part: ModelPart) => void) {
  const controller = new AbortController();
  const call = openai('m', { baseURL: server.baseURL }).generate({ ...hello, signal: controller.signal, onPart });
  const outcome = call.then(
    () => 'resolved',
    (error: unknown) => error,
  );
  while (server.requests.length === 0) await pause(2);
  await pause(20);
  const started = performance.now();
  controller.abort(reason);
  return { error: await outcome, took: performance.now() - started, signal: controller.signal };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('an abort', () => {
  test.each<[string, Reply]>([
    ['before the answer', { json: {}, delayMs: 5000 }],
    ['inside a stream', { chunks: [begun], end: 'hang' }],
    ['inside a body', { chunks: ['{"choices":'], end: 'hang', headers: { 'content-type': 'application/json' } }],
  ])('%s rejects at once with its reason, and closes the request', async (title, reply) => {
    await using server = await startOpenAIServer([reply]);

    const { error, took, signal } = await aborted(server, title === 'inside a stream' ? () => {} : undefined);

    expect(error).toBe(reason);
    expect(took).toBeLessThan(100);
    expect(await server.requests[0]?.closedEarly).toBe(true);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('ends the wait before a retry, and leaves no timer that keeps the process alive', async () => {
    await using server = await startOpenAIServer([{ status: 429, headers: { 'retry-after': '30' }, json: {} }]);
    const set = vi.spyOn(globalThis, 'setTimeout');
    const cleared = vi.spyOn(globalThis, 'clearTimeout');

    const { error, took } = await aborted(server);

    expect(error).toBe(reason);
    expect(took).toBeLessThan(100);
    expect(server.requests).toHaveLength(1);
    const wait = set.mock.results[set.mock.calls.findIndex(([, ms]) => ms === 30_000)]?.value;
    expect(cleared.mock.calls.map(([timer]) => timer)).toContain(wait);
  });

  test('is followed by no wait for another try', async () => {
    await using server = await startOpenAIServer([{ json: {}, delayMs: 5000 }]);
    const set = vi.spyOn(globalThis, 'setTimeout');

    await aborted(server);
    await server.requests[0]?.closedEarly;
    await pause(20);

    expect(set.mock.calls.filter(([, ms = 0]) => ms >= 300 && ms <= 600)).toEqual([]);
  });

  test('that came before the call sends nothing', async () => {
    await using server = await startOpenAIServer([{ json: {} }]);
    const model = openai('m', { baseURL: server.baseURL });

    await expect(model.generate({ ...hello, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(server.requests).toEqual([]);
  });

  test('from inside a listener is followed by no further part', async () => {
    await using server = await startOpenAIServer([
      { chunks: [[begun, begun, begun].map(event).join('')], end: 'hang' },
    ]);
    const controller = new AbortController();
    const parts: ModelPart[] = [];
    const onPart = (part: ModelPart) => {
      parts.push(part);
      controller.abort(reason);
    };

    const call = openai('m', { baseURL: server.baseURL }).generate({ ...hello, signal: controller.signal, onPart });

    await expect(call).rejects.toBe(reason);
    await server.requests[0]?.closedEarly;
    expect(parts).toHaveLength(1);
  });
});

test('a long-lived signal has no listener left after many calls', async () => {
  await using server = await startOpenAIServer((body) => replyWith({ text: 'Hi' }, body));
  const { signal } = new AbortController();
  const model = openai('m', { baseURL: server.baseURL });

  for (let call = 0; call < 5; call += 1) {
    await model.generate({ ...hello, signal });
    await model.generate({ ...hello, signal, onPart: () => {} });
  }

  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
