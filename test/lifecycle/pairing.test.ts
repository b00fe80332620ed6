import fc from 'fast-check';
import { Agent, type AgentLifecycle, HookAction, type RunOptions } from 'keelson';
import {
  calls,
  fails,
  hangs,
  type RecordedLifecycle,
  recorder,
  type ScriptEntry,
  scriptedModel,
} from 'keelson/testing';
import { describe, expect, it } from 'vitest';
import { manualClock, settled } from '../support/lifecycle/manual-clock.js';
import { add, keepingLogger } from '../support/lifecycle/sample-agent.js';

const boom = new RangeError('boom');
const fail = () => Promise.reject(boom);

interface Case {
  readonly title: string;
  /** The hooks of the second of three lifecycles. */
  readonly b?: RecordedLifecycle & { readonly absent?: readonly string[] };
  readonly c?: RecordedLifecycle;
  readonly script?: readonly ScriptEntry[];
  readonly options?: RunOptions;
  /** The lifecycles that get afterAgent, and those that get onError, in order. */
  readonly after: string;
  readonly error: string;
}

const cases: readonly Case[] = [
  { title: 'the run ends with an answer', after: 'abc', error: '' },
  { title: 'a beforeAgent throws', b: { beforeAgent: fail }, after: '', error: 'a' },
  {
    title: 'a beforeAgent throws with `continue`',
    b: { beforeAgent: fail, onFailure: 'continue' },
    after: 'abc',
    error: '',
  },
  { title: 'a beforeAgent throws under `block`', b: { beforeAgent: fail, onFailure: 'block' }, after: '', error: 'a' },
  { title: 'a beforeAgent rejects the run', b: { beforeAgent: () => HookAction.reject('no') }, after: '', error: 'ab' },
  { title: 'a beforeAgent responds', b: { beforeAgent: () => HookAction.respond('no') }, after: 'ab', error: '' },
  {
    title: 'a beforeAgent ends the run with `run.end`',
    b: { beforeAgent: (_, run) => run.end(HookAction.reject('no')) },
    after: '',
    error: 'ab',
  },
  {
    title: 'the last beforeAgent throws, and an earlier lifecycle has no beforeAgent',
    b: { only: ['afterAgent', 'onError'] },
    c: { beforeAgent: fail },
    after: '',
    error: 'ab',
  },
  { title: 'a beforeModel throws', b: { beforeModel: fail }, after: '', error: 'abc' },
  { title: 'a beforeModel responds', b: { beforeModel: () => HookAction.respond('no') }, after: 'abc', error: '' },
  {
    title: 'a beforeToolSelection rejects',
    b: { beforeToolSelection: () => HookAction.reject('no') },
    after: '',
    error: 'abc',
  },
  { title: 'a wrapModelCall throws', b: { wrapModelCall: fail }, after: '', error: 'abc' },
  { title: 'an afterModel throws', b: { afterModel: fail }, after: '', error: 'abc' },
  { title: 'an afterModel responds', b: { afterModel: () => HookAction.respond('no') }, after: 'abc', error: '' },
  { title: 'an afterModel suspends', b: { afterModel: () => HookAction.suspend('ask') }, after: 'abc', error: '' },
  { title: 'a wrapToolCall throws', b: { wrapToolCall: fail }, after: '', error: 'abc' },
  { title: 'a wrapToolCall suspends', b: { wrapToolCall: () => HookAction.suspend('ask') }, after: 'abc', error: '' },
  { title: 'the model fails', script: [fails()], after: '', error: 'abc' },
  { title: 'the turns are over', options: { maxTurns: 1 }, after: '', error: 'abc' },
  { title: 'the signal was aborted before', options: { signal: AbortSignal.abort('stop') }, after: '', error: '' },
  { title: 'the first afterAgent fails', b: { priority: 90, afterAgent: fail }, after: 'b', error: 'ac' },
  { title: 'an afterAgent fails', b: { afterAgent: fail }, after: 'ab', error: 'c' },
  { title: 'the last afterAgent fails', c: { afterAgent: fail }, after: 'abc', error: '' },
  {
    title: 'an afterAgent fails with `continue`',
    b: { afterAgent: fail, onFailure: 'continue' },
    after: 'abc',
    error: '',
  },
  {
    title: 'an afterAgent fails at once',
    b: {
      afterAgent: () => {
        throw boom;
      },
    },
    after: 'ab',
    error: 'c',
  },
  { title: 'an onError fails', b: { onError: fail }, script: [fails()], after: '', error: 'abc' },
  {
    title: 'an onError fails at once',
    b: {
      onError: () => {
        throw boom;
      },
    },
    script: [fails()],
    after: '',
    error: 'abc',
  },
];

const pair = ['beforeAgent', 'afterAgent', 'onError'] as const;

function threeParts({ b = {}, c = {} }: Pick<Case, 'b' | 'c'>) {
  const record = recorder();
  const part = (name: string, own: RecordedLifecycle) => {
    const hooks = Object.keys(own).filter((key) => /^(before|after|wrap)/.test(key)) as NonNullable<
      RecordedLifecycle['only']
    >;
    return record.lifecycle(name, { only: [...pair, ...hooks], ...own });
  };
  return { record, lifecycle: [part('a', {}), part('b', b), part('c', c)] };
}

function whoGot(log: readonly string[], hook: string): string {
  return log
    .filter((line) => line.endsWith(`.${hook}`))
    .map((line) => line[0])
    .join('');
}

describe('each lifecycle whose beforeAgent ran gets exactly one of afterAgent and onError', () => {
  it.each(cases)(
    'if $title',
    async ({ b, c, script = [calls('add', { a: 1, b: 2 }), 'done'], options, after, error }) => {
      const { record, lifecycle } = threeParts({ ...(b && { b }), ...(c && { c }) });
      const agent = new Agent({ model: scriptedModel(script), tools: [add], lifecycle, logger: keepingLogger() });

      await agent.run('Hello', options).catch(() => {});

      expect({ after: whoGot(record.log, 'afterAgent'), error: whoGot(record.log, 'onError') }).toEqual({
        after,
        error,
      });
    },
  );

  it.each([
    ['in the model call', { script: [hangs()] }, 'abc'],
    ['in a beforeAgent', { b: { beforeAgent: () => new Promise<void>(() => {}) } }, 'a'],
    ['in an afterModel', { b: { afterModel: () => new Promise<void>(() => {}) } }, 'abc'],
    ['in an afterAgent', { b: { afterAgent: () => new Promise<void>(() => {}) } }, 'c'],
  ] as const)('if the run is aborted %s', async (_where, { script = ['done'], ...parts }: Partial<Case>, error) => {
    const { record, lifecycle } = threeParts(parts);
    const agent = new Agent({ model: scriptedModel(script), lifecycle, logger: keepingLogger() });
    const controller = new AbortController();
    const run = agent.run('Hello', { signal: controller.signal });
    await settled();

    controller.abort('stop');

    await expect(run).rejects.toMatchObject({ code: 'ERR_RUN_ABORTED' });
    expect(whoGot(record.log, 'onError')).toBe(error);
  });
});

describe('for random lifecycles', () => {
  const ways = ['absent', 'passes', 'passes later', 'throws', 'responds', 'rejects'] as const;
  const partOf = fc.record({
    before: fc.constantFrom(...ways),
    after: fc.constantFrom('passes', 'passes later', 'throws'),
    policy: fc.constantFrom('throw', 'continue', 'block' as const),
  });
  type Part = typeof partOf extends fc.Arbitrary<infer T> ? T : never;

  const acts: Record<(typeof ways)[number], (() => unknown) | undefined> = {
    absent: undefined,
    passes: () => {},
    'passes later': async () => {},
    throws: fail,
    responds: () => HookAction.respond('no'),
    rejects: async () => HookAction.reject('no'),
  };

  /** The expected number of lifecycles whose beforeAgent runs. */
  function entering(parts: readonly Part[]): number {
    for (const [at, { before, policy }] of parts.entries()) {
      if (before === 'throws' && policy !== 'continue') return at;
      if (before === 'responds' || before === 'rejects') return at + 1;
    }
    return parts.length;
  }

  it('each lifecycle whose beforeAgent ran gets one of afterAgent and onError, and the others get neither', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(partOf, { maxLength: 6 }), fc.boolean(), async (parts, modelFails) => {
        const got = parts.map(() => [] as string[]);
        const lifecycle = parts.map(({ before, after, policy }, at): AgentLifecycle => {
          const act = acts[before];
          const note = (hook: string, then: () => unknown) => () => {
            got[at]?.push(hook);
            return then();
          };
          const afterAgent = note('afterAgent', acts[after] ?? (() => {}));
          const onError = note('onError', () => {});
          return { onFailure: policy, ...(act && { beforeAgent: act }), afterAgent, onError } as AgentLifecycle;
        });
        const model = scriptedModel([modelFails ? fails() : 'done']);
        await new Agent({ model, lifecycle, logger: keepingLogger() }).run('Hello').catch(() => {});

        const entered = entering(parts);
        expect(got.map((hooks) => hooks.length)).toEqual(parts.map((_, at) => (at < entered ? 1 : 0)));
      }),
      { numRuns: 500 },
    );
  });
});

describe('onError', () => {
  it('gets the same error as the caller, with the messages of the run', async () => {
    const seen: unknown[] = [];
    const agent = new Agent({
      model: scriptedModel([fails('overloaded')]),
      lifecycle: [{ onError: (error) => void seen.push(error) }],
    });

    const error = await agent.run('Hello').catch((thrown: unknown) => thrown);

    expect(seen).toEqual([error]);
    expect(seen[0]).toBe(error);
    expect(error).toMatchObject({ messages: [{ role: 'user', content: 'Hello' }] });
  });

  it('is awaited before the run rejects', async () => {
    const clock = manualClock();
    const onError = () => new Promise<void>((resolve) => void clock.setTimeout(resolve, 4_000));
    const run = new Agent({ model: scriptedModel([fails()]), lifecycle: [{ onError }], clock }).run('Hello');
    let over = false;
    run.catch(() => {
      over = true;
    });

    await clock.advance(3_999);
    expect(over).toBe(false);
    await clock.advance(1);
    expect(over).toBe(true);
  });

  it('runs after an abort, with a time limit of five seconds', async () => {
    const clock = manualClock();
    const controller = new AbortController();
    const log: string[] = [];
    const onError = (name: string) => (_: unknown, run: { readonly signal: AbortSignal }) => {
      log.push(`${name} ${run.signal.aborted}`);
      return new Promise<void>(() => {});
    };
    const lifecycle = [{ onError: onError('a') }, { onError: onError('b') }];
    const agent = new Agent({ model: scriptedModel([hangs()]), lifecycle, clock, logger: keepingLogger() });
    const run = agent.run('Hello', { signal: controller.signal });
    let over = false;
    run.catch(() => {
      over = true;
    });
    await settled();
    controller.abort('stop');

    await clock.advance(4_999);
    expect([over, log]).toEqual([false, ['a true', 'b true']]);
    await clock.advance(1);

    await expect(run).rejects.toMatchObject({ code: 'ERR_RUN_ABORTED', cause: 'stop' });
    expect(clock.waiting).toBe(0);
  });

  it('is called once, with the reason of the first abort, if the run is aborted twice', async () => {
    const seen: unknown[] = [];
    const ended: string[] = [];
    const controller = new AbortController();
    const hanging = { ...add, execute: () => new Promise<never>(() => {}) };
    const agent = new Agent({
      model: scriptedModel([calls('add', { a: 1, b: 2 })]),
      tools: [hanging],
      lifecycle: [{ onError: (error) => void seen.push(error) }],
    });
    agent.on('tool-end', ({ callId }) => void ended.push(callId));
    const stream = agent.stream('Hello', { signal: controller.signal });
    const events = stream[Symbol.asyncIterator]();
    await events.next();
    await settled();

    controller.abort('first');
    void events.return?.();

    await expect(stream.result).rejects.toMatchObject({ code: 'ERR_RUN_ABORTED', cause: 'first' });
    expect(seen).toMatchObject([{ cause: 'first' }]);
    expect(ended).toEqual(['call_1']);
  });

  it('is logged with the name of its lifecycle if it fails, and the error of the run stays the same', async () => {
    const logger = keepingLogger();
    const bad: AgentLifecycle = { name: 'bad', onFailure: 'throw', onError: fail };
    const agent = new Agent({ model: scriptedModel([fails()]), lifecycle: [bad], logger });

    await expect(agent.run('Hello')).rejects.toMatchObject({ code: 'ERR_MODEL_FAILED' });
    expect(logger.lines).toEqual([expect.stringMatching(/error: .*onError.*"bad"/)]);
    expect(logger.details).toEqual([boom]);
  });

  it('also has the time limit `timeoutMs` of its lifecycle', async () => {
    const clock = manualClock();
    const onError = () => new Promise<void>(() => {});
    const logger = keepingLogger();
    const run = new Agent({
      model: scriptedModel([fails()]),
      lifecycle: [{ onError, timeoutMs: 100 }],
      clock,
      logger,
    }).run('Hello');
    let over = false;
    run.catch(() => {
      over = true;
    });

    await clock.advance(100);

    expect(over).toBe(true);
  });
});

describe('afterAgent', () => {
  it('changes the text and not the history', async () => {
    const agent = new Agent({ model: scriptedModel(['done']), lifecycle: [{ afterAgent: (text) => `${text}!` }] });

    expect(await agent.run('Hello')).toMatchObject({
      text: 'done!',
      history: [{ content: 'Hello' }, { role: 'assistant', content: [{ type: 'text', text: 'done' }] }],
    });
  });
});
