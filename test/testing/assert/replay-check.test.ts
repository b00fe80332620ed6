import type { AgentLifecycle } from 'keelson';
import { durable, memoryStep } from 'keelson/durable';
import { limits, retryModelCalls, truncateToolResults } from 'keelson/lifecycles';
import { assertLifecycle } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { faultsOf } from '../../support/testing/find-faults.js';

const replay = { durable, memoryStep };
const others = ['shape', 'answer', 'tool-calls', 'tool-errors', 'model-errors', 'time-outs', 'streaming'] as const;
const skip = [...others, 'abort', 'concurrency', 'session', 'shutdown'] as const;
const rejected = 'the run must end in the same way on a replay: ';

describe('the replay check of assertLifecycle', () => {
  test.each<[string, () => AgentLifecycle]>([
    ['limits', () => limits({ modelCalls: 2, toolCalls: 2 })],
    ['retryModelCalls', () => retryModelCalls({ initialDelayMs: 1 })],
    ['truncateToolResults', () => truncateToolResults({ maxChars: 1_000 })],
    [
      'a hook that reads the id and the time of its run',
      () => ({ beforeAgent: (_input, run) => `${run.id} ${run.clock.now()}` }),
    ],
    [
      'a wrap that is not deterministic',
      () => ({ wrapToolCall: async (call, next) => ({ ...(await next(call)), content: `${Math.random()}` }) }),
    ],
  ])('accepts %s', async (_, make) => {
    expect(await assertLifecycle(make, { replay, skip })).toEqual(['replay']);
  });

  test('reports a hook with a random value', async () => {
    const random = (): AgentLifecycle => ({ name: 'random', beforeAgent: () => `${Math.random()}` });

    const [fault] = await faultsOf(random, { replay, skip });

    expect(fault).toContain(`replay (a run with one answer): ${rejected}`);
    expect(fault).toMatch('messages[0].content is');
  });

  test('reports a hook that takes other steps on a replay', async () => {
    let runs = 0;
    const stops = (): AgentLifecycle => ({
      name: 'stops',
      afterModel(_response, run) {
        runs += 1;
        if (runs === 1) run.add({ role: 'user', content: 'Once more.' });
      },
    });

    expect(await faultsOf(stops, { replay, skip })).toEqual([expect.stringContaining('replay')]);
  });

  test('reports an instance that remembers earlier runs', async () => {
    const seen: string[] = [];
    const counts: AgentLifecycle = { name: 'counts', afterAgent: (text) => `${text} ${seen.push(text)}` };

    expect(await faultsOf(() => counts, { replay, skip })).toEqual([expect.stringContaining(rejected)]);
  });
});
