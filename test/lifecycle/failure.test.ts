import { Agent, type AgentLifecycle, HookAction, LifecycleError, type RunContext } from 'keelson';
import { type RecordedLifecycle, recorder, scriptedModel } from 'keelson/testing';
import { describe, expect, it } from 'vitest';
import { rejectionOf } from '../support/agent/settle.js';
import { add, addingModel, keepingLogger, POINTS } from '../support/lifecycle/sample-agent.js';

type Point = (typeof POINTS)[number];

const boom = new RangeError('boom');
const failing = {
  'throws at once': () => {
    throw boom;
  },
  rejects: () => Promise.reject(boom),
  'rejects later': async () => {
    await null;
    throw boom;
  },
  // biome-ignore lint/suspicious/noThenProperty: a hook may return any thenable
  'throws inside a thenable': () => ({ then: (_: unknown, reject: (error: unknown) => void) => reject(boom) }),
} as const;
const cases = POINTS.flatMap((point) => Object.entries(failing).map(([how, fail]) => [point, how, fail] as const));

interface Failing extends RecordedLifecycle {
  readonly policy?: AgentLifecycle['onFailure'];
}

/** Starts a run of two turns. The second of three lifecycles always fails at one hook point. */
async function runFailing(point: Point, fail: () => unknown, { policy }: Failing = {}) {
  const record = recorder();
  const only = [point, 'onError'] as const;
  const bad = record.lifecycle('bad', { only, onFailure: policy, [point]: fail } as RecordedLifecycle);
  const lifecycle = [record.lifecycle('first', { only }), bad, record.lifecycle('last', { only })];
  const logger = keepingLogger();
  const model = addingModel();
  const [settled] = await Promise.allSettled([new Agent({ model, tools: [add], lifecycle, logger }).run('Hello')]);
  return { log: record.log, logger, model, settled };
}

const isWrap = (point: Point) => point.startsWith('wrap');

describe('with `throw`, which is the default', () => {
  it.each(cases)(
    'S4-FR4.9, S4-NFR5.5: a hook at %s that %s ends the run with a LifecycleError',
    async (point, _how, fail) => {
      const { log, settled, logger } = await runFailing(point, fail);

      expect(settled).toMatchObject({
        status: 'rejected',
        reason: {
          ...{ code: 'ERR_LIFECYCLE_FAILED', lifecycle: 'bad', point, cause: boom },
          message: `Lifecycle "bad" failed in ${point}: boom`,
          messages: expect.any(Array),
          usage: expect.objectContaining({ totalTokens: expect.any(Number) }),
        },
      });
      expect(settled).toHaveProperty('reason', expect.any(LifecycleError));
      const around = isWrap(point)
        ? [`first.${point}>`, `bad.${point}>`, `<bad.${point} threw`, `<first.${point} threw`]
        : [];
      const through = isWrap(point) ? [] : [`first.${point}`, `bad.${point}`];
      expect(log.filter((line) => line.includes(point))).toEqual([...around, ...through]);
      expect(logger.lines).toEqual([]);
    },
  );

  it('the error has the messages of the run, every call with its result', async () => {
    const { settled } = await runFailing('wrapToolCall', failing.rejects);

    expect(settled).toMatchObject({
      reason: {
        messages: [
          { role: 'user', content: 'Hello' },
          { role: 'assistant', content: [{ type: 'tool-call', id: 'call_1' }] },
          { role: 'tool', content: [{ id: 'call_1', isError: true, content: expect.stringContaining('boom') }] },
        ],
        usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
      },
    });
  });

  it.each([
    ['afterModel', () => HookAction.suspend('ask')],
    ['wrapToolCall', async () => HookAction.suspend('ask')],
  ])('closes the open calls of a run that %s suspended if afterAgent fails', async (point, act) => {
    const lifecycle = [{ [point]: act, afterAgent: failing.rejects }];
    const run = new Agent({ model: addingModel(), tools: [add], lifecycle }).run('Hello');

    const closed = { role: 'tool', content: [{ id: 'call_1', isError: true }] };
    const messages = [{ role: 'user' }, { role: 'assistant' }, closed];
    await expect(run).rejects.toMatchObject({ code: 'ERR_LIFECYCLE_FAILED', messages, history: messages });
  });

  it('the session of such a run can continue and has the same messages as the error', async () => {
    let fails = true;
    const part: AgentLifecycle = {
      afterModel: (_, run) => (fails && run.turn === 1 ? HookAction.suspend('ask') : undefined),
      afterAgent: () => (fails ? failing.rejects() : undefined),
    };
    const session = await new Agent({ model: addingModel(), tools: [add], lifecycle: [part] }).session();
    const error = await session.run('Hello').catch((thrown: LifecycleError) => thrown);
    fails = false;

    expect(session.messages).toEqual(error.history);
    expect((await session.run('Hello again')).text).toBe('done');
  });

  it.each([
    ['a text', 'boom', 'boom'],
    ['nothing', undefined, 'undefined'],
    ['an object', { code: 7 }, '{"code":7}'],
  ])('a hook may throw %s', async (_what, thrown, shown) => {
    const { settled } = await runFailing('beforeModel', () => Promise.reject(thrown));

    const message = `Lifecycle "bad" failed in beforeModel: ${shown}`;
    expect(settled).toMatchObject({ status: 'rejected', reason: { message, cause: thrown } });
  });
});

describe('with `continue`', () => {
  it.each(cases)('a hook at %s that %s is logged, recorded and skipped', async (point, _how, fail) => {
    const { log, settled, logger } = await runFailing(point, fail, { policy: 'continue' });

    const times = ['beforeAgent', 'wrapToolCall', 'afterAgent'].includes(point) ? 1 : 2;
    const turns = point === 'beforeAgent' ? [0] : [1, 2];
    const pass = { type: 'pass', by: 'bad', point, reason: 'boom' };
    const decisions = turns
      .slice(point === 'afterAgent' ? 1 : 0)
      .slice(0, times)
      .map((turn) => expect.objectContaining({ ...pass, turn }));
    expect(settled).toMatchObject({ status: 'fulfilled', value: { text: 'done', turns: 2, decisions } });
    expect(log.filter((line) => line === `last.${point}` || line === `last.${point}>`)).toHaveLength(times);
    expect(logger.lines).toEqual(
      Array.from({ length: times }, () => `error: Lifecycle "bad" failed in ${point}: boom`),
    );
    expect(logger.details).toEqual(Array.from({ length: times }, () => boom));
  });

  it('the value from before the hook is kept', async () => {
    const asks = (name: string, act: () => string): AgentLifecycle => ({
      name,
      onFailure: 'continue',
      beforeAgent: act,
      afterAgent: act,
    });
    const model = addingModel();
    const lifecycle = [asks('first', () => 'first'), asks('bad', failing['throws at once'])];
    const agent = new Agent({ model, tools: [add], lifecycle, logger: keepingLogger() });

    expect((await agent.run('Hello')).text).toBe('first');
    expect(model.requests[0]?.messages).toEqual([{ role: 'user', content: 'first' }]);
  });

  it('an invalid return value is a failure', async () => {
    const { settled, logger } = await runFailing('beforeModel', () => 7, { policy: 'continue' });

    expect(settled).toMatchObject({ status: 'fulfilled', value: { text: 'done' } });
    expect(logger.lines).toHaveLength(2);
  });
});

describe('with `block`', () => {
  it.each(cases.filter(([point]) => point !== 'wrapToolCall'))(
    'a hook at %s that %s rejects the run',
    async (point, _how, fail) => {
      const { settled, log } = await runFailing(point, fail, { policy: 'block' });

      const reason = { code: 'ERR_RUN_REJECTED', reason: 'boom', by: 'bad', point, messages: expect.any(Array) };
      expect(settled).toMatchObject({ status: 'rejected', reason });
      expect(log).not.toContain(`last.${point}`);
      expect(log).not.toContain(`last.${point}>`);
    },
  );

  it.each(Object.entries(failing))(
    'a hook at wrapToolCall that %s gives the call an error result',
    async (_how, fail) => {
      const { settled, model } = await runFailing('wrapToolCall', fail, { policy: 'block' });

      expect(settled).toMatchObject({
        status: 'fulfilled',
        value: {
          text: 'done',
          decisions: [
            {
              type: 'block',
              by: 'bad',
              point: 'wrapToolCall',
              turn: 1,
              reason: 'boom',
              call: { id: 'call_1', name: 'add' },
            },
          ],
        },
      });
      expect(model.requests[1]?.messages.at(-1)).toEqual({
        role: 'tool',
        content: [
          {
            ...{ type: 'tool-result', id: 'call_1', name: 'add', isError: true },
            content: expect.stringMatching(/"bad".*boom/),
          },
        ],
      });
    },
  );

  it('the model reads that the tool may have run if a hook at wrapToolCall fails after `next`', async () => {
    const fail = async (_call: unknown, next: () => Promise<unknown>) => {
      await next();
      throw boom;
    };

    const { model } = await runFailing('wrapToolCall', fail as () => unknown, { policy: 'block' });

    const content = 'The tool may have run, but its result is withheld, because "bad" failed: boom';
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool', content: [{ content, isError: true }] });
  });

  it('an outer wrap hook cannot replace a blocked model call', async () => {
    const outer: AgentLifecycle = { priority: 90, wrapModelCall: (_, next) => next().catch(() => next()) };
    let asked = 0;
    const guard: AgentLifecycle = {
      ...{ name: 'guard', onFailure: 'block' as const },
      wrapModelCall: (_, next) => {
        asked += 1;
        return asked === 1 ? Promise.reject(boom) : next();
      },
    };
    const agent = new Agent({ model: addingModel(), tools: [add], lifecycle: [outer, guard], logger: keepingLogger() });

    await expect(agent.run('Hello')).rejects.toMatchObject({ code: 'ERR_RUN_REJECTED', by: 'guard' });
  });
});

describe('a failure does not undo a decision', () => {
  it.each(['continue', 'block'] as const)(
    'a run stays ended if the hook that ended it then throws with `%s`',
    async (onFailure) => {
      const hasty: AgentLifecycle = {
        ...{ name: 'hasty', onFailure },
        beforeModel: (_, run) => {
          run.end(HookAction.reject('over'));
          throw boom;
        },
      };
      const model = addingModel();
      const agent = new Agent({ model, tools: [add], lifecycle: [hasty], logger: keepingLogger() });

      await expect(agent.run('Hello')).rejects.toMatchObject({ code: 'ERR_RUN_REJECTED', reason: 'over' });
      expect(model.requests).toEqual([]);
    },
  );
});

it.each([
  ['fails', { beforeModel: () => Promise.reject(new RangeError('boom')) }],
  ['is rejected', { beforeModel: () => HookAction.reject('no') }],
] as const)('a run that %s takes no more messages', async (_how, hooks) => {
  const runs: RunContext[] = [];
  const lifecycle: AgentLifecycle = { ...hooks, beforeAgent: (_input, run) => void runs.push(run) };
  await rejectionOf(new Agent({ model: scriptedModel([]), lifecycle: [lifecycle] }).run('Hello'));

  expect(() => runs[0]?.add({ role: 'user', content: 'Late' })).toThrow(
    expect.objectContaining({ code: 'ERR_RUN_ENDED' }),
  );
});

describe.each(['wrapModelCall', 'wrapToolCall'] as const)(
  'a %s hook that throws before it returns a promise',
  (point) => {
    it('fails with its own error', async () => {
      const thrower = (): never => {
        throw boom;
      };
      const agent = new Agent({ model: addingModel(), tools: [add], lifecycle: [{ name: 'bad', [point]: thrower }] });

      expect(await rejectionOf(agent.run('Hello'))).toMatchObject({ lifecycle: 'bad', point, cause: boom });
    });
  },
);
