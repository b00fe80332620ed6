import {
  Agent,
  type AgentLifecycle,
  HookAction,
  type LifecycleError,
  type ModelRequest,
  type ModelResponse,
  type ToolCallNext,
  type ToolCallRequest,
  type ToolResult,
} from 'keelson';
import { calls, recorder, scriptedModel } from 'keelson/testing';
import { describe, expect, it } from 'vitest';
import { settled } from '../../support/lifecycle/manual-clock.js';
import { keepingLogger } from '../../support/lifecycle/sample-agent.js';

/** The actions of a wrap hook after its call already has a result. */
const lates: Readonly<Record<string, (next: ToolCallNext) => Promise<ToolResult>>> = {
  'calls `next`': (next) => next(),
  'rewrites the arguments': (next) => next({ id: 'call_1', name: 'slow', input: { n: 2 }, run: undefined as never }),
  'returns a result': async () => ({ content: 'late' }),
  throws: () => Promise.reject(new RangeError('late')),
};

/** The ways in which the hook of a second call ends the run. */
const ends: Readonly<
  Record<string, (call: ToolCallRequest, stop: AbortController) => ToolResult | Promise<ToolResult>>
> = {
  'ended by `run.end`': (call) => {
    call.run.end(HookAction.reject('over'));
    return { content: 'ended' };
  },
  aborted: (_call, stop) => {
    stop.abort('over');
    return { content: 'aborted' };
  },
  'failed in a hook': () => Promise.reject(new TypeError('boom')),
};

/** Runs two tool calls. The hook of the first waits for the end of the run; the hook of the second ends the run. */
async function lateRun(late: (typeof lates)[string], end: (typeof ends)[string]) {
  const stop = new AbortController();
  const executed: unknown[] = [];
  const tool = (name: string) => ({
    ...{ name, description: name, inputSchema: { type: 'object' } },
    check: (value: unknown) => ({ value }),
    execute: (input: unknown) => String(executed.push(input)),
  });
  let go = () => {};
  const waiting: AgentLifecycle = {
    ...{ name: 'waiting', onFailure: 'continue' as const },
    wrapToolCall: (call, next) =>
      call.name === 'slow' ? new Promise<void>((resolve) => (go = resolve)).then(() => late(next)) : next(),
  };
  const ending: AgentLifecycle = {
    priority: 0,
    wrapToolCall: (call, next) => (call.name === 'fast' ? end(call, stop) : next()),
  };
  const logger = keepingLogger();
  const agent = new Agent({
    model: scriptedModel([calls({ name: 'slow' }, { name: 'fast' })]),
    tools: [tool('slow'), tool('fast')],
    ...{ lifecycle: [waiting, ending], logger },
  });
  const record = recorder();
  record.listenTo(agent, { deltas: true });
  const [outcome] = await Promise.allSettled([agent.run('Hello', { signal: stop.signal })]);
  const before = JSON.stringify([record.events, outcome, executed]);
  go();
  await settled();
  await settled();
  return { before, after: JSON.stringify([record.events, outcome, executed]), executed, outcome };
}

describe('a wrap hook that is still running when its call has its result', () => {
  const cases = Object.keys(ends).flatMap((how) => Object.keys(lates).map((what) => ({ how, what })));

  it.each(cases)(
    'in a run that was $how: its late action ($what) has no effect and runs no tool',
    async ({ how, what }) => {
      const [late, end] = [lates[what], ends[how]];
      if (late === undefined || end === undefined) return expect.fail('unknown case');
      const { before, after, executed, outcome } = await lateRun(late, end);

      expect(executed).toEqual([]);
      expect(after).toBe(before);
      const content = [
        { id: 'call_1', isError: true },
        { id: 'call_2', isError: true },
      ];
      expect(outcome).toMatchObject({ status: 'rejected', reason: { messages: [{}, {}, { role: 'tool', content }] } });
    },
  );
});

describe('a model call that a hook abandoned', () => {
  it('has no effect after the run has ended: no delta, no further call, no usage', async () => {
    const told: string[] = [];
    const gates: (() => void)[] = [];
    const gate = () => new Promise<void>((resolve) => gates.push(resolve));
    const model = {
      id: 'slow',
      async generate({ onPart }: ModelRequest): Promise<ModelResponse> {
        told.push('asked');
        await gate();
        onPart?.({ type: 'text-delta', text: 'late' });
        return { content: [], finishReason: 'stop', usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } };
      },
    };
    const hasty: AgentLifecycle = {
      wrapModelCall: (_, next) => {
        void next();
        throw new RangeError('boom');
      },
    };
    const twice: AgentLifecycle = {
      wrapModelCall: async (_, next) => {
        await next();
        return next();
      },
    };
    const agent = new Agent({ model, lifecycle: [hasty, twice] });
    for (const type of ['text-delta', 'run-end'] as const) agent.on(type, () => void told.push(type));

    const error = await agent.run('Hello').catch((thrown: LifecycleError) => thrown);
    for (const open of gates) open();
    await settled();
    await settled();

    expect(told).toEqual(['asked', 'run-end']);
    expect(error).toMatchObject({ point: 'wrapModelCall', usage: { totalTokens: 0 } });
  });
});
