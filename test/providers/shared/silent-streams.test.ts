import { Agent, type AgentEvent, type AgentOptions, defineTool } from 'keelson';
import { retryModelCalls } from 'keelson/lifecycles';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { pause, rejectionOf, until } from '../../support/agent/settle.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { manualClock } from '../../support/lifecycle/manual-clock.js';
import { adapters, type Said } from '../../support/providers/adapters.js';
import { startOpenAIServer } from '../../support/providers/openai-server.js';

const IDLE_MS = 60_000;
const look = defineTool({ name: 'look', description: 'Looks.', input: z.object({}).loose(), execute: () => 'red' });
const call = { id: 'call_1', name: 'look', arguments: '{"at":"it"}' };
const stages: Readonly<Record<string, { readonly said: Said; readonly delta: AgentEvent['type'] }>> = {
  reasoning: { said: { reasoning: 'Let me think.', text: 'It is' }, delta: 'reasoning-delta' },
  text: { said: { text: 'It is red.' }, delta: 'text-delta' },
  'arguments of a call': { said: { toolCalls: [call] }, delta: 'tool-input-delta' },
};

interface Silence {
  readonly over: Promise<void>;
  readonly pings: readonly string[];
}

/** Pings that a service or a proxy sends. The AI SDK refuses the events in chat completions. */
const PINGS = [
  ': ping\n\n',
  'event: ping\ndata: {"type":"ping"}\n\n',
  'event: keepalive\ndata: {"type":"keepalive"}\n\n',
];

async function* stalled(chunks: readonly unknown[], { over, pings }: Silence): AsyncGenerator<unknown> {
  yield* chunks;
  for (let at = 0; ; at += 1) {
    const isOver = await Promise.race([over.then(() => true), pause(2).then(() => false)]);
    if (isOver) return;
    yield pings[at % pings.length];
  }
}

describe.each(adapters)('a stream of $name that falls silent', (adapter) => {
  const kinds = Object.entries(stages).filter(([name]) => name !== 'reasoning' || adapter.tellsReasoning);

  /** Streams the answer up to its first delta of this type, and all of it in the next request. */
  const play = async ({ said, delta }: (typeof stages)[string], options: Partial<AgentOptions>) => {
    let end = () => {};
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    const clock = manualClock();
    const pings = /ai-sdk, chat/.test(adapter.name) ? PINGS.slice(0, 1) : PINGS;
    const whole = adapter.reply(said, { stream: true }) as { readonly chunks: readonly unknown[] };
    const finished = adapter.reply({ text: 'It is red.' }, { stream: true });
    await using server = await startOpenAIServer((_body, index) =>
      index === 0 ? { chunks: stalled(whole.chunks.slice(0, -2), { over, pings }), end: 'hang' } : finished,
    );
    const model = adapter.model(server.baseURL, { maxRetries: 2 });
    const logger = keepingLogger();
    const agent = new Agent({ model, tools: [look], clock, logger, timeouts: { idleMs: IDLE_MS }, ...options });
    const events: AgentEvent[] = [];
    const stream = agent.stream('What colour?');
    const isOver = stream.result.then(
      () => true,
      () => true,
    );
    const reading = (async () => {
      for await (const event of stream) events.push(event);
    })().catch(() => {});
    await until(() => events.some(({ type }) => type === delta));
    const first = await Promise.race([clock.advance(IDLE_MS - 1).then(() => pause(20)), isOver]);
    while (!(await Promise.race([isOver, clock.advance(IDLE_MS).then(() => pause(5))])));
    await reading;
    end();
    return { first, events, result: stream.result, requests: server.requests.length };
  };

  test.each(kinds)('after a part of %s ends as `network`, and is retried once', async (_kind, stage) => {
    const { first, events, result, requests } = await play(stage, { lifecycle: [retryModelCalls({ maxRetries: 1 })] });

    expect(first).not.toBe(true);
    expect([(await result).text, requests]).toEqual(['It is red.', 2]);
    const failure = events.filter(({ type }) => type === 'model-error');
    expect(failure).toMatchObject([{ action: 'retry', error: { kind: 'network', retryable: true } }]);
    // The text of the failed attempt is told apart by its attempt.
    const attempts = events.flatMap((event) => ('attempt' in event ? [event.attempt] : []));
    expect([...new Set(attempts)]).toEqual([1, 2]);
  });

  test('ends the run with a ModelError without a retry', async () => {
    const { result, requests } = await play(stages.text as (typeof stages)[string], {});

    const error = (await rejectionOf(result)) as Error;
    expect(error).toMatchObject({ code: 'ERR_MODEL_FAILED', kind: 'network', retryable: true });
    expect(error.message).toContain(`The wait for the next part of the response took longer than ${IDLE_MS} ms`);
    expect(requests).toBe(1);
  });

  test('between its parts for less than the limit is read to its end', async () => {
    const clock = manualClock();
    let seen = 0;
    async function* slow() {
      const { chunks } = adapter.reply({ text: 'one two three four' }, { stream: true }) as {
        chunks: readonly unknown[];
      };
      for (const chunk of chunks) {
        const before = seen;
        yield chunk;
        await Promise.race([until(() => seen > before), pause(50)]);
        if (seen > before) await clock.advance(IDLE_MS - 1_000);
      }
    }
    await using server = await startOpenAIServer([{ chunks: slow() }]);
    const model = adapter.model(server.baseURL);
    const agent = new Agent({ model, clock, timeouts: { idleMs: IDLE_MS } });
    agent.on('text-delta', () => {
      seen += 1;
    });

    expect((await agent.run('go')).text).toBe('one two three four');
    expect(clock.now()).toBeGreaterThan(1.5 * IDLE_MS);
  });
});
