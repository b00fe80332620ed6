import { Agent, type AgentEvent, type AgentOptions, type Clock, HookAction, type Ids } from 'keelson';
import { calls, delays, scriptedModel } from 'keelson/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { fakeClock, fastClock } from '../../support/agent/fake-clock.js';
import { echo, toolOf } from '../../support/agent/sample-tools.js';
import { pause, until } from '../../support/agent/settle.js';

function countingIds(): Ids & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    next(kind) {
      asked.push(kind);
      return `${kind}-${asked.length}`;
    },
  };
}

afterEach(() => vi.restoreAllMocks());

/** A run with tools, a repair, hooks with timeouts, an added message, and two calls with the same id. */
async function everything(clock: Clock = fastClock()): Promise<{ events: AgentEvent[]; result: unknown }> {
  const model = scriptedModel(
    [
      delays(3, calls({ name: 'echo', id: 'same', input: { text: 'a' } }, { name: 'slow', id: 'same' })),
      'no JSON',
      delays(2, '{"a":1}'),
    ],
    { clock },
  );
  const agent = new Agent({
    model,
    clock,
    ids: countingIds(),
    tools: [echo, toolOf('slow', () => new Promise(() => {}))],
    timeouts: { runMs: 60_000, modelMs: 1_000, firstPartMs: 1_000, toolMs: 5 },
    lifecycle: [
      {
        timeoutMs: 50,
        beforeModel: async (messages) => [...messages],
        wrapModelCall: async (_request, next) => next(),
        wrapToolCall: async (_call, next) => next(),
        afterModel: async (_response, run) => {
          if (run.turn === 1) run.add({ role: 'user', content: `run ${run.id} at ${run.clock.now()}` });
          return HookAction.Approve;
        },
      },
    ],
  });
  const events: AgentEvent[] = [];
  const stream = agent.stream('go', { output: z.object({ a: z.number() }) });
  for await (const event of stream) events.push(event);
  return { events, result: await stream.result };
}

describe('with injected ids and an injected clock', () => {
  test('two runs have identical events and results', async () => {
    const first = await everything();
    const second = await everything();

    expect(JSON.stringify(second)).toBe(JSON.stringify(first));
    expect(first.events.length).toBeGreaterThan(20);
    expect(JSON.stringify(first)).not.toMatch(/run_[0-9a-f]{32}/);
  });

  test('a run uses no system time, randomness or timer', async () => {
    const used: string[] = [];
    const spies = [
      vi.spyOn(Date, 'now').mockImplementation(() => used.push('Date.now')),
      vi.spyOn(Math, 'random').mockImplementation(() => used.push('Math.random')),
      vi.spyOn(performance, 'now').mockImplementation(() => used.push('performance.now')),
      vi
        .spyOn(crypto, 'randomUUID')
        .mockImplementation((() => `${used.push('randomUUID')}-0-0-0-0`) as typeof crypto.randomUUID),
      vi.spyOn(globalThis, 'setTimeout').mockImplementation((() => used.push('setTimeout')) as never),
    ];

    await everything();
    for (const spy of spies) spy.mockRestore();

    expect(used).toEqual([]);
  });

  test('every timer is cleared at the end of the run', async () => {
    const clock = fakeClock();
    const options: Partial<AgentOptions> = {
      timeouts: { runMs: 1_000, modelMs: 900, firstPartMs: 800, toolMs: 700 },
      lifecycle: [
        {
          timeoutMs: 600,
          beforeAgent: () => pause(),
          wrapModelCall: async (_request, next) => next(),
          wrapToolCall: async (_call, next) => next(),
          afterAgent: () => pause().then(() => undefined),
        },
      ],
    };
    const tools = [toolOf('wait', () => pause().then(() => 'ok'))];
    const agent = new Agent({ model: scriptedModel([calls('wait'), 'done']), tools, clock, ...options });

    await agent.run('go');

    expect(new Set(clock.delays)).toEqual(new Set([1_000, 900, 800, 700, 600]));
    expect(clock.pending()).toBe(0);
  });

  test('an abort clears the timers as well', async () => {
    const clock = fakeClock();
    const controller = new AbortController();
    const agent = new Agent({
      model: scriptedModel([calls('wait')]),
      tools: [toolOf('wait', () => new Promise(() => {}))],
      timeouts: { runMs: 1_000, modelMs: 900, firstPartMs: 800 },
      clock,
    });

    const running = agent.run('go', { signal: controller.signal }).catch(() => {});
    await until(() => agent.status().runs === 1);
    await pause(2);
    controller.abort();
    await running;

    expect(clock.pending()).toBe(0);
  });

  test('ids are generated only if something reads them', async () => {
    const ids = countingIds();
    const agent = new Agent({
      model: scriptedModel([calls('echo', { text: 'a' }), 'done', 'x', 'y']),
      tools: [echo],
      ids,
    });

    await agent.run('go');
    expect(ids.asked).toEqual([]);

    const session = await agent.session();
    await agent.session({ id: 'mine' });
    await session.run('go');
    // A run of a session claims it with its id.
    expect([session.id, ids.asked]).toEqual(['session-1', ['session', 'run']]);

    agent.on('run-end', () => {});
    await agent.run('go');
    expect(ids.asked).toEqual(['session', 'run', 'run']);
  });
});
