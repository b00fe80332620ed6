import { Agent, type AgentLifecycle } from 'keelson';
import { calls, fails, hangs, type ScriptEntry, scriptedModel } from 'keelson/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { manualClock, settled } from '../support/lifecycle/manual-clock.js';
import { add, keepingLogger, POINTS } from '../support/lifecycle/sample-agent.js';

const unhandled: unknown[] = [];
const keep = (reason: unknown) => void unhandled.push(reason);
beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', keep);
});
afterEach(() => void process.off('unhandledRejection', keep));

/** Runs to the end, also after a failure, and returns the unhandled rejections. */
async function afterRun(
  lifecycle: AgentLifecycle,
  script: readonly ScriptEntry[] = [fails(), fails(), fails()],
  inner: readonly AgentLifecycle[] = [],
) {
  const agent = new Agent({
    model: scriptedModel(script),
    tools: [add],
    lifecycle: [lifecycle, ...inner],
    logger: keepingLogger(),
  });
  const [outcome] = await Promise.allSettled([agent.run('Hello')]);
  for (let round = 0; round < 3; round += 1) await settled();
  return { unhandled: [...unhandled], status: outcome.status };
}

const answer = {
  content: [{ type: 'text', text: 'given' }],
  finishReason: 'stop',
  usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
} as const;

describe('the detection of unhandled rejections', () => {
  it('reports an unhandled rejection', async () => {
    void Promise.reject(new TypeError('planted'));
    await settled();

    expect(unhandled.splice(0)).toEqual([new TypeError('planted')]);
  });
});

const floating: Record<string, NonNullable<AgentLifecycle['wrapModelCall']>> = {
  'and answers at once': (_, next) => {
    void next();
    return answer;
  },
  'and answers later': async (_, next) => {
    void next();
    await settled();
    return answer;
  },
  'twice and answers': async (_, next) => {
    void next();
    void next();
    return answer;
  },
  'twice and returns a third call': (_, next) => {
    void next();
    void next();
    return next();
  },
  'twice and returns the first call': (_, next) => {
    const first = next();
    void next();
    return first;
  },
  'after it awaited another': async (_, next) => {
    await next().catch(() => {});
    void next();
    return answer;
  },
  'late and answers later': async (_, next) => {
    await settled();
    void next();
    await settled();
    return answer;
  },
  'and throws at once': (_, next) => {
    void next();
    throw new TypeError('boom');
  },
  'and rejects': async (_, next) => {
    void next();
    throw new TypeError('boom');
  },
  'and returns an invalid value': (_, next) => {
    void next();
    return undefined as never;
  },
};
const policies = ['throw', 'continue', 'block'] as const;

/** The hook between the one that ignores `next` and the model. */
const between: Record<string, AgentLifecycle> = {
  'returns the promise of next': { wrapModelCall: (_, next) => next() },
  'awaits next': { wrapModelCall: async (_, next) => await next() },
  'awaits something else first': {
    async wrapModelCall(_, next) {
      await settled();
      return next();
    },
  },
  'changes the request': { wrapModelCall: async (request, next) => next({ ...request, toolChoice: 'none' }) },
  'has a time limit': { timeoutMs: 1_000, wrapModelCall: (_, next) => next() },
  'throws at once': {
    wrapModelCall() {
      throw new TypeError('inner');
    },
  },
  rejects: { wrapModelCall: () => Promise.reject(new TypeError('inner')) },
  'returns an invalid value': { wrapModelCall: async () => 'no response' as never },
};

describe('a rejection of `next` that a hook ignores is never unhandled', () => {
  const cases = Object.entries(floating).flatMap(([how, wrap]) =>
    policies.map((policy) => [how, policy, wrap] as const),
  );

  it.each(cases)(
    'if the hook calls `next` without awaiting it %s, with `%s`',
    async (_how, onFailure, wrapModelCall) => {
      expect((await afterRun({ onFailure, wrapModelCall })).unhandled).toEqual([]);
      expect((await afterRun({ onFailure, timeoutMs: 1_000, wrapModelCall })).unhandled).toEqual([]);
    },
  );

  it.each(
    Object.entries(floating).flatMap(([how, wrap]) => Object.keys(between).map((inner) => [how, inner, wrap] as const)),
  )('if the hook calls `next` without awaiting it %s, and an inner hook %s', async (_how, inner, wrapModelCall) => {
    const hooks = [between[inner] ?? {}];
    expect((await afterRun({ wrapModelCall }, undefined, hooks)).unhandled).toEqual([]);
    expect((await afterRun({ wrapModelCall }, undefined, [...hooks, ...hooks])).unhandled).toEqual([]);
  });

  it('if `next` has expired', async () => {
    const late: AgentLifecycle = {
      wrapModelCall: (_, next) => {
        setImmediate(() => void next());
        return answer;
      },
    };

    expect(await afterRun(late)).toEqual({ unhandled: [], status: 'fulfilled' });
  });

  it('if an inner wrap hook of a tool call fails', async () => {
    const outer: AgentLifecycle = {
      wrapToolCall: (_, next) => {
        void next({ id: 'call_1', name: 'add', input: {}, run: undefined as never });
        return { content: 'given' };
      },
    };
    const inner: AgentLifecycle = { wrapToolCall: () => Promise.reject(new TypeError('boom')) };
    const model = scriptedModel([calls('add', {}), 'done']);

    const { text } = await new Agent({ model, tools: [add], lifecycle: [outer, inner] }).run('Hello');
    await settled();

    expect([text, unhandled]).toEqual(['done', []]);
  });
});

describe('the rejection of a hook is never unhandled, and never lost', () => {
  it.each(POINTS.flatMap((point) => policies.map((policy) => [point, policy] as const)))(
    'at %s with `%s`',
    async (point, onFailure) => {
      const bad = { onFailure, [point]: () => Promise.reject(new TypeError('boom')) } as AgentLifecycle;
      const { unhandled: missed, status } = await afterRun(bad, [calls('add', { a: 1, b: 2 }), 'done']);

      expect(missed).toEqual([]);
      const goesOn = onFailure === 'continue' || (onFailure === 'block' && point === 'wrapToolCall');
      expect(status).toBe(goesOn ? 'fulfilled' : 'rejected');
    },
  );

  it.each(POINTS)('at %s, after an abort', async (point) => {
    const controller = new AbortController();
    const late = {
      [point]: async () => {
        controller.abort('stop');
        await settled();
        throw new TypeError('too late');
      },
    } as AgentLifecycle;
    const model = scriptedModel([calls('add', { a: 1, b: 2 }), 'done']);
    const run = new Agent({ model, tools: [add], lifecycle: [late] }).run('Hello', { signal: controller.signal });

    await expect(run).rejects.toMatchObject({ code: 'ERR_RUN_ABORTED' });
    await settled();
    await settled();
    expect(unhandled).toEqual([]);
  });

  it.each(POINTS)('at %s, after its timeout', async (point) => {
    const clock = manualClock();
    const slow = {
      ...{ timeoutMs: 1, onFailure: 'continue' },
      [point]: () => new Promise((_, reject) => clock.setTimeout(() => reject(new TypeError('too late')), 50)),
    } as AgentLifecycle;
    const model = scriptedModel([calls('add', { a: 1, b: 2 }), 'done']);
    const run = new Agent({ model, tools: [add], lifecycle: [slow], logger: keepingLogger(), clock }).run('Hello');
    await clock.advance(10);

    expect((await run).text).toBe('done');
    await clock.advance(100);
    await settled();
    expect(unhandled).toEqual([]);
  });

  it('in onError, also after the run', async () => {
    expect((await afterRun({ onError: () => Promise.reject(new TypeError('boom')) })).unhandled).toEqual([]);
  });

  it('in a stream whose result is not read', async () => {
    const agent = new Agent({
      model: scriptedModel([fails()]),
      lifecycle: [{ beforeModel: () => Promise.reject(new TypeError('boom')) }],
    });
    agent.stream('Hello');
    await settled();
    await settled();

    expect(unhandled).toEqual([]);
  });

  it('of a model that is still running after a hook has timed out', async () => {
    const controller = new AbortController();
    const impatient: AgentLifecycle = {
      wrapModelCall: (_, next) => Promise.race([next(), settled().then(() => answer)]),
    };
    const model = scriptedModel([hangs()]);
    const agent = new Agent({ model, lifecycle: [impatient] });

    expect((await agent.run('Hello', { signal: controller.signal })).text).toBe('given');
    controller.abort('stop');
    await settled();
    expect(unhandled).toEqual([]);
  });
});
