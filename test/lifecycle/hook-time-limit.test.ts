import { Agent, type AgentLifecycle, type AgentOptions } from 'keelson';
import { calls, delays, fails, recorder, scriptedModel } from 'keelson/testing';
import { describe, expect, it } from 'vitest';
import { type ManualClock, manualClock, settled } from '../support/lifecycle/manual-clock.js';
import { add, keepingLogger, POINTS } from '../support/lifecycle/sample-agent.js';

const NO_USAGE = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
const hang = () => new Promise<never>(() => {});

/** Starts a run of two turns. Returns the run, its current state, the model and the logger. */
function start(clock: ManualClock, options: Partial<AgentOptions>) {
  const model = scriptedModel([calls('add', { a: 1, b: 2 }), 'done']);
  const logger = keepingLogger();
  const run = new Agent({ model, tools: [add], clock, logger, ...options }).run('Hello');
  const standing = { text: 'pending', error: undefined as unknown };
  run.then(
    ({ text }) => {
      standing.text = text;
    },
    (error: unknown) => {
      standing.text = 'failed';
      standing.error = error;
    },
  );
  return { run, standing, model, logger };
}

function hanging(point: string, onFailure?: AgentLifecycle['onFailure']): AgentLifecycle {
  let hung = false;
  const once = (_: unknown, next: unknown) => {
    if (hung) return typeof next === 'function' ? next() : undefined;
    hung = true;
    return hang();
  };
  return { name: 'slow', timeoutMs: 100, onFailure, [point]: once } as AgentLifecycle;
}

describe.each(POINTS)('a timeout at %s', (point) => {
  const timeout = { code: 'ERR_TIMEOUT', timeoutMs: 100, what: `${point} of "slow"` };

  it('fails the hook at its time limit and not before', async () => {
    const clock = manualClock();
    const { standing } = start(clock, { lifecycle: [hanging(point)] });

    await clock.advance(99);
    expect(standing.text).toBe('pending');
    await clock.advance(1);

    expect(standing).toMatchObject({ text: 'failed', error: { lifecycle: 'slow', point, cause: timeout } });
    expect(clock.waiting).toBe(0);
  });

  it('skips the hook with `continue`', async () => {
    const clock = manualClock();
    const { standing, logger } = start(clock, { lifecycle: [hanging(point, 'continue')] });

    await clock.advance(100);

    expect(standing.text).toBe('done');
    expect(logger.lines).toEqual([expect.stringMatching(`failed in ${point}: .*100 ms`)]);
  });

  it('blocks with `block`', async () => {
    const clock = manualClock();
    const { standing, model } = start(clock, { lifecycle: [hanging(point, 'block')] });

    await clock.advance(100);

    const reason = { code: 'ERR_RUN_REJECTED', by: 'slow', point, reason: expect.stringContaining('100 ms') };
    if (point !== 'wrapToolCall') return expect(standing).toMatchObject({ text: 'failed', error: reason });
    expect(standing.text).toBe('done');
    const result = { isError: true, content: expect.stringMatching(/"slow".*100 ms/) };
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({ content: [result] });
  });

  it('does not happen if the hook is in time, and no timer is left', async () => {
    const clock = manualClock();
    const intime = (_: unknown, next: unknown) =>
      new Promise((resolve) => {
        clock.setTimeout(() => resolve(typeof next === 'function' ? next() : undefined), 99);
      });
    const part = { name: 'slow', timeoutMs: 100, [point]: intime } as AgentLifecycle;
    const { standing } = start(clock, { lifecycle: [part] });

    await clock.advance(200);

    expect(standing.text).toBe('done');
    expect(clock.waiting).toBe(0);
  });

  it('does not happen without `timeoutMs`', async () => {
    const clock = manualClock();
    const { standing } = start(clock, { lifecycle: [{ ...hanging(point), timeoutMs: undefined }] });

    await clock.advance(1_000_000);

    expect(standing.text).toBe('pending');
  });
});

describe('the return value of a hook after its timeout', () => {
  it('is ignored, and `next` of the hook has expired', async () => {
    const clock = manualClock();
    const outcomes: string[] = [];
    const late: AgentLifecycle = {
      ...{ timeoutMs: 100, onFailure: 'continue' as const },
      wrapModelCall: async (_, next) => {
        await new Promise<void>((resolve) => void clock.setTimeout(resolve, 150));
        return next().catch((error: { code: string }) => {
          outcomes.push(error.code);
          throw error;
        });
      },
      afterAgent: async () => {
        await new Promise<void>((resolve) => void clock.setTimeout(resolve, 150));
        return 'too late';
      },
    };
    const { standing, model } = start(clock, { lifecycle: [late] });

    await clock.advance(1_000);

    expect(standing.text).toBe('done');
    expect(outcomes).toEqual(['ERR_NEXT_EXPIRED', 'ERR_NEXT_EXPIRED']);
    expect(model.requests).toHaveLength(2);
  });
});

describe('the time limit of a wrap hook is paused while `next` is running', () => {
  const wait = (clock: ManualClock, ms: number) => new Promise<void>((resolve) => void clock.setTimeout(resolve, ms));

  function around(clock: ManualClock, before: number, after: number): AgentLifecycle {
    const wrap = async (_: unknown, next: () => Promise<never>) => {
      await wait(clock, before);
      const result = await next();
      await wait(clock, after);
      return result;
    };
    return { name: 'around', timeoutMs: 100, wrapModelCall: wrap, wrapToolCall: wrap } as object;
  }

  function slowly(clock: ManualClock) {
    const model = scriptedModel([delays(5_000, calls('add', { a: 1, b: 2 })), delays(5_000, 'done')], { clock });
    const slow = { ...add, execute: () => wait(clock, 5_000).then(() => '3') };
    return { model, tools: [slow] };
  }

  it('a slow model and a slow tool do not count', async () => {
    const clock = manualClock();
    const { standing } = start(clock, { ...slowly(clock), lifecycle: [around(clock, 60, 39)] });

    await clock.advance(15_000 + 3 * 99);

    expect(standing.text).toBe('done');
    expect(clock.waiting).toBe(0);
  });

  it('the time of the hook before and after `next` is added up', async () => {
    const clock = manualClock();
    const { standing } = start(clock, { ...slowly(clock), lifecycle: [around(clock, 60, 41)] });

    await clock.advance(5_060 + 39);
    expect(standing.text).toBe('pending');
    await clock.advance(1);

    const error = { lifecycle: 'around', point: 'wrapModelCall', cause: { code: 'ERR_TIMEOUT' } };
    expect(standing).toMatchObject({ text: 'failed', error });
  });

  it('the time counts again after `next` has failed', async () => {
    const clock = manualClock();
    const model = scriptedModel([fails(new RangeError('overloaded'))], { clock });
    const patient: AgentLifecycle = {
      name: 'patient',
      timeoutMs: 100,
      wrapModelCall: async (_, next) => {
        await next().catch(() => undefined);
        return hang();
      },
    };
    const { standing } = start(clock, { model, lifecycle: [patient] });

    await clock.advance(100);

    expect(standing).toMatchObject({ text: 'failed', error: { lifecycle: 'patient', cause: { code: 'ERR_TIMEOUT' } } });
    expect(clock.waiting).toBe(0);
  });

  it('the pause lasts until the last of several calls of `next` has settled', async () => {
    const clock = manualClock();
    const model = scriptedModel([delays(1_000, 'slow'), delays(10, 'fast')], { clock });
    const hedge: AgentLifecycle = {
      timeoutMs: 100,
      wrapModelCall: async (_, next) => {
        const slow = next();
        await next();
        await wait(clock, 300);
        return slow;
      },
    };
    const { standing } = start(clock, { model, lifecycle: [hedge] });

    await clock.advance(1_000);

    expect(standing.text).toBe('slow');
  });

  it('the time is counted once if a second call of `next` starts during the first', async () => {
    const clock = manualClock();
    const model = scriptedModel([delays(200, 'one'), delays(10, 'two')], { clock });
    const hedge: AgentLifecycle = {
      timeoutMs: 100,
      wrapModelCall: async (_, next) => {
        await wait(clock, 40);
        const first = next();
        await wait(clock, 50);
        await next();
        await first;
        await wait(clock, 50);
        return first;
      },
    };
    const { standing } = start(clock, { model, lifecycle: [hedge] });

    await clock.advance(1_000);

    expect(standing.text).toBe('one');
  });

  it('the time limit does not resume if the hook settles before `next`', async () => {
    const clock = manualClock();
    const model = scriptedModel([delays(50, 'late')], { clock });
    const hasty: AgentLifecycle = {
      timeoutMs: 100,
      wrapModelCall: async (_, next) => {
        void next();
        return { content: [{ type: 'text', text: 'early' }], finishReason: 'stop', usage: NO_USAGE };
      },
    };
    const { standing } = start(clock, { model, lifecycle: [hasty] });

    await clock.advance(60);

    expect([standing.text, clock.waiting]).toEqual(['early', 0]);
  });

  it('the time of an inner wrap hook does not count for an outer one', async () => {
    const clock = manualClock();
    const inner: AgentLifecycle = { wrapModelCall: (_, next) => wait(clock, 500).then(() => next()) };
    const outer: AgentLifecycle = { priority: 90, timeoutMs: 100, wrapModelCall: async (_, next) => await next() };
    const { standing } = start(clock, { lifecycle: [inner, outer] });

    await clock.advance(1_000);

    expect(standing.text).toBe('done');
  });
});

describe('`continue` never swallows an abort', () => {
  it.each(POINTS)('in a hook at %s', async (point) => {
    const controller = new AbortController();
    const record = recorder();
    const hang: AgentLifecycle = { onFailure: 'continue', [point]: () => new Promise(() => {}) };
    const logger = keepingLogger();
    const model = scriptedModel([calls('add', { a: 1, b: 2 }), 'done']);
    const lifecycle = [hang, record.lifecycle('behind', { only: [point] })];
    const run = new Agent({ model, tools: [add], lifecycle, logger }).run('Hello', { signal: controller.signal });
    await settled();

    controller.abort('stop');

    await expect(run).rejects.toMatchObject({ code: 'ERR_RUN_ABORTED', cause: 'stop' });
    expect([record.log, logger.lines]).toEqual([[], []]);
  });

  it.each(POINTS)('in a hook at %s that throws because of the abort', async (point) => {
    const controller = new AbortController();
    const heeding = {
      onFailure: 'continue',
      [point]: () => {
        controller.abort('stop');
        throw new TypeError('I was told to stop');
      },
    } as object;
    const model = scriptedModel([calls('add', { a: 1, b: 2 }), 'done']);
    const logger = keepingLogger();
    const agent = new Agent({ model, tools: [add], lifecycle: [heeding], logger });

    await expect(agent.run('Hello', { signal: controller.signal })).rejects.toMatchObject({ code: 'ERR_RUN_ABORTED' });
    expect(logger.lines).toEqual([]);
  });

  it.each(POINTS)('in a hook at %s of a run without a signal, when the agent is closed', async (point) => {
    const record = recorder();
    const logger = keepingLogger();
    let go = () => {};
    const waits = {
      onFailure: 'continue',
      [point]: (_: unknown, next: unknown) =>
        new Promise((resolve) => {
          go = () => resolve(typeof next === 'function' ? next() : undefined);
        }),
    } as object;
    const model = scriptedModel([calls('add', { a: 1, b: 2 }), 'done']);
    const lifecycle = [waits, record.lifecycle('behind', { only: [point] })];
    const agent = new Agent({ model, tools: [add], lifecycle, logger });
    const run = agent.run('Hello');
    await settled();

    const closing = agent.close();
    go();

    await expect(run).rejects.toMatchObject({ code: 'ERR_RUN_ABORTED' });
    await closing;
    expect([record.log, logger.lines]).toEqual([[], []]);
  });
});
