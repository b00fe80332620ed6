import { type AgentLifecycle, HookAction, ModelError, type ModelResponse, type RunContext, textOf } from 'keelson';
import { assertLifecycle, faultyTool, LifecycleBudgetError, recorder } from 'keelson/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { rejectionOf } from '../../support/agent/settle.js';

const moment = () => new Promise((resolve) => setTimeout(resolve, 1));

class Audit implements AgentLifecycle {
  readonly lines: string[] = [];
  readonly started = new WeakMap<RunContext, number>();
  beforeAgent(_input: string, run: RunContext): void {
    this.started.set(run, run.clock.now());
  }
  async beforeModel(): Promise<void> {
    await moment();
  }
  afterModel(): HookAction {
    return HookAction.Approve;
  }
  wrapToolCall: AgentLifecycle['wrapToolCall'] = async (call, next) => {
    const result = await next(call);
    this.lines.push(call.name);
    return result;
  };
  async onError(): Promise<void> {
    await moment();
  }
}

describe('assertLifecycle', () => {
  it('returns the names of the checks', async () => {
    expect(await assertLifecycle({}, { passive: true })).toEqual([
      ...['shape', 'answer', 'tool-calls', 'tool-errors', 'model-errors', 'time-outs', 'streaming', 'passive'],
      ...['abort', 'concurrency', 'session', 'shutdown'],
    ]);
    expect(await assertLifecycle({}, { skip: ['abort', 'streaming', 'shutdown'], runs: 2 })).toEqual([
      ...['shape', 'answer', 'tool-calls', 'tool-errors', 'model-errors', 'time-outs', 'concurrency', 'session'],
    ]);
  });

  it('calls a function for each check, and uses an instance for all checks', async () => {
    let made = 0;
    const checked = await assertLifecycle(() => {
      made += 1;
      return {};
    });
    expect(made).toBe(checked.length);

    const record = recorder();
    await assertLifecycle(record.lifecycle('a'), { runs: 2 });
    expect(record.log.filter((line) => line === 'a.onInit' || line === 'a.onShutdown')).toEqual([
      'a.onInit',
      'a.onShutdown',
    ]);
  });

  it('accepts a cache that answers a run with the response of another run', async () => {
    const cache = (): AgentLifecycle => {
      const known = new Map<string, ModelResponse>();
      return {
        async wrapModelCall(request, next) {
          const key = JSON.stringify([request.messages, request.tools]);
          const response = known.get(key) ?? (await next(request));
          known.set(key, response);
          return response;
        },
      };
    };

    expect(await assertLifecycle(cache, { limitMs: 1_000 })).toHaveLength(11);
  });

  it('passes the input and the context to the lifecycle', async () => {
    const picky: AgentLifecycle<{ tenant: string }> = {
      name: 'picky',
      beforeAgent: (input, run) =>
        input.startsWith('Please') && run.context.tenant === 'acme' ? HookAction.Continue : HookAction.respond('no'),
      afterAgent: (text) => (text === 'no' ? Promise.reject(new TypeError('asked badly')) : text),
    };

    await assertLifecycle(picky, { passive: true, input: 'Please.', context: { tenant: 'acme' }, runs: 5 });
    await expect(assertLifecycle(picky, { runs: 1, context: { tenant: 'other' } })).rejects.toThrow('asked badly');
    // @ts-expect-error the lifecycle has a Context, so `context` is required
    await expect(assertLifecycle(picky, { runs: 1 })).rejects.toThrow('asked badly');
  });
});

it('assertLifecycle works without process events, as in a browser', async () => {
  vi.stubGlobal('process', Object.create(process, { on: { value: undefined } }));
  onTestFinished(() => void vi.unstubAllGlobals());

  expect(await assertLifecycle({}, { runs: 2 })).toHaveLength(11);
});

describe('the time budget of assertLifecycle', () => {
  const slowly = (ms: number) => ({
    name: 'slow',
    beforeModel: () => new Promise<void>((resolve) => setTimeout(resolve, ms)),
  });

  it('rejects after the budget with the running check and run, and starts no further check', async () => {
    let made = 0;
    const make = () => {
      made += 1;
      return slowly(30);
    };
    const error = await rejectionOf(assertLifecycle(make, { budgetMs: 100 }));

    expect(error).toBeInstanceOf(LifecycleBudgetError);
    expect(error).toMatchObject({
      code: 'ERR_LIFECYCLE_BUDGET',
      lifecycle: 'slow',
      check: expect.any(String),
      faults: [],
    });
    expect(String(error)).toMatch(
      /lifecycle "slow" took longer than `budgetMs` \(100 ms\): "[a-z-]+" was running \(.+\)\. .*raise `budgetMs`.*`skip: \['/,
    );
    const checks = made;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(made).toBe(checks);
  });

  it('rejects after the budget with the faults found so far', async () => {
    const faulty = () => ({ ...slowly(30), afterModel: () => 'neither an action nor nothing' as never });

    expect(await rejectionOf(assertLifecycle(faulty, { budgetMs: 400 }))).toMatchObject({
      code: 'ERR_LIFECYCLE_BUDGET',
      faults: [expect.objectContaining({ check: 'answer' })],
      message: expect.stringContaining('Faults found before:\n- answer'),
    });
  });

  it.each([
    [{ budgetMs: '5s' }, '`budgetMs` must be milliseconds from 1 to'],
    [{ skip: ['abrot'] }, "`skip[0]` must be 'shape', 'answer'"],
    [{ budget: 5 }, 'did you mean `budgetMs`?'],
  ])('is not begun with the options %j', async (options, problem) => {
    await expect(assertLifecycle({}, options as never)).rejects.toThrow(problem);
  });
});

describe('a lifecycle that behaves passes', () => {
  const passive: readonly (readonly [name: string, make: () => AgentLifecycle])[] = [
    ['that is recorded at every hook', () => recorder().lifecycle('recorded')],
    ['that writes an audit log asynchronously', () => new Audit()],
    [
      'with a time limit and `onFailure: continue`',
      () => ({ timeoutMs: 1_000, onFailure: 'continue', wrapModelCall: (_request, next) => next() }),
    ],
  ];

  it.each(passive)('%s', async (_, make) => {
    await assertLifecycle(make, { passive: true, runs: 10 });
  });

  const active: readonly (readonly [name: string, lifecycle: AgentLifecycle])[] = [
    ['that refuses every run', { beforeAgent: () => HookAction.reject('closed') }],
    ['that answers every run', { beforeModel: () => HookAction.respond('closed') }],
    ['that answers instead of the model', { wrapModelCall: async () => answer('from the cache') }],
    ['that suspends every call', { wrapToolCall: () => HookAction.suspend('ask somebody') }],
    ['that denies every call', { wrapToolCall: () => ({ content: 'denied', isError: true }) }],
    ['that hides the tools', { beforeToolSelection: () => [] }],
    ['that adds tools', { tools: [faultyTool('throws')] }],
    ['that rewrites arguments', { wrapToolCall: (call, next) => next({ ...call, input: { redacted: true } }) }],
    ['that compacts the messages', { beforeModel: (messages) => messages.slice(0, 1) }],
    ['that changes each answer', { afterAgent: (text) => `${text} (${Math.random()})` }],
    [
      'that redacts the stream',
      { holdStream: true, afterModel: (response) => HookAction.modify({ ...response, content: answer('…').content }) },
    ],
    [
      'that retries a failed model call',
      {
        wrapModelCall: (_request, next) =>
          next().catch((error: unknown) => (error instanceof ModelError ? next() : Promise.reject(error))),
      },
    ],
    [
      'that adds a question after the answer',
      {
        afterModel(response, run) {
          const asked = run.messages.some((message) => textOf(message) === 'Are you sure?');
          if (!asked && response.finishReason === 'stop') run.add({ role: 'user', content: 'Are you sure?' });
        },
      },
    ],
  ];

  it.each(active)('%s', async (_, lifecycle) => {
    await assertLifecycle(lifecycle, { runs: 10 });
  });
});

function answer(text: string) {
  const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  return { content: [{ type: 'text', text }], finishReason: 'stop', usage } as const;
}
