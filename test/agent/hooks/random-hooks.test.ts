import fc from 'fast-check';
import {
  Agent,
  type AgentLifecycle,
  HookAction,
  KeelsonError,
  LifecycleError,
  ModelError,
  RejectedError,
  RunAbortedError,
  type RunContext,
} from 'keelson';
import { calls, fails, faultyTool, recorder, type ScriptEntry, says, scriptedModel } from 'keelson/testing';
import { expect, it } from 'vitest';
import { unpairedEvents } from '../../support/agent/event-pairs.js';
import { pairingProblem } from '../../support/agent/pairing.js';
import { unhandledDuring } from '../../support/agent/settle.js';
import { settled } from '../../support/lifecycle/manual-clock.js';
import { add, keepingLogger } from '../../support/lifecycle/sample-agent.js';

const boom = new RangeError('boom');
type Next = () => Promise<never>;
type Act = (value: never, rest: never) => unknown;

/** The possible actions of a hook that is not a wrap hook. */
const threadActs: Record<string, Act> = {
  passes: () => {},
  'passes later': () => settled(),
  throws: () => {
    throw boom;
  },
  rejects: () => Promise.reject(boom),
  approves: () => HookAction.Approve,
  responds: () => HookAction.respond('no'),
  refuses: async () => HookAction.reject('no'),
  suspends: () => HookAction.suspend('ask'),
  'returns an invalid value': () => 7,
  adds: (_: unknown, run: RunContext) => run.add({ role: 'user', content: 'more' }),
  'ends the run': async (_: unknown, run: RunContext) => run.end(HookAction.respond('over')),
};

/** The possible actions of a wrap hook. */
const wrapActs: Record<string, Act> = {
  'returns `next()`': (_: unknown, next: Next) => next(),
  awaits: async (_: unknown, next: Next) => await next(),
  'calls twice': async (_: unknown, next: Next) => [await next(), await next()][1],
  floats: (_: unknown, next: Next) => {
    void next();
    return next();
  },
  'does not await `next` and throws': async (_: unknown, next: Next) => {
    void next();
    throw boom;
  },
  'throws before': () => {
    throw boom;
  },
  'throws after': (_: unknown, next: Next) => next().then(() => Promise.reject(boom)),
  recovers: (_: unknown, next: Next) => next().catch(() => next()),
  races: (_: unknown, next: Next) => Promise.any([next(), settled().then(() => next())]),
  // The first of three calls waits longest.
  dawdles: async ({ id = 'call_1' }: { readonly id?: string }, next: Next) => {
    for (let left = 4 - Number(id.slice('call_'.length)); left > 0; left -= 1) await settled();
    return next();
  },
  suspends: () => HookAction.suspend('ask'),
  'ends the run': async (request: { run: { end(action: HookAction): void } }, next: Next) => {
    request.run.end(HookAction.respond('over'));
    return next();
  },
};

const threadAct = fc.option(fc.constantFrom(...Object.keys(threadActs)), { nil: undefined, freq: 2 });
const wrapAct = fc.option(fc.constantFrom(...Object.keys(wrapActs)), { nil: undefined, freq: 2 });
const part = fc.record({
  onFailure: fc.constantFrom('throw', 'continue', 'block' as const),
  timeoutMs: fc.constantFrom(undefined, 1_000),
  ...{ beforeAgent: threadAct, beforeModel: threadAct, beforeToolSelection: threadAct, afterModel: threadAct },
  ...{ wrapModelCall: wrapAct, wrapToolCall: wrapAct, afterAgent: threadAct },
});
type Part = typeof part extends fc.Arbitrary<infer T> ? T : never;

const steps: Record<string, ScriptEntry> = {
  'one call': calls('add', { a: 1, b: 2 }),
  'three calls': calls({ name: 'add', input: { a: 1, b: 2 } }, { name: 'throws' }, { name: 'missing' }),
  'a cut call': says('', { calls: [{ name: 'add' }], finishReason: 'length' }),
  fails: fails(),
  answers: 'done',
};
const scenario = fc.record({
  parts: fc.array(part, { maxLength: 4 }),
  script: fc.array(fc.constantFrom(...Object.keys(steps)), { maxLength: 4 }),
  parallel: fc.constantFrom(true, false, 2),
  /** The number of event loop rounds before the run is aborted. */
  abort: fc.option(fc.nat({ max: 6 }), { nil: undefined, freq: 3 }),
  how: fc.constantFrom('run', 'stream', 'session' as const),
});

/** Makes a lifecycle that logs whether it gets afterAgent or onError. */
function lifecycleOf({ onFailure, timeoutMs, ...acts }: Part, got: string[]): AgentLifecycle {
  const hooks = Object.entries(acts).flatMap(([point, name]) => {
    const act = name === undefined ? undefined : (point.startsWith('wrap') ? wrapActs : threadActs)[name];
    return act === undefined ? [] : [[point, act] as const];
  });
  const { afterAgent = () => {}, ...others } = Object.fromEntries(hooks);
  const noted = (...given: [never, never]) => {
    got.push('afterAgent');
    return afterAgent(...given);
  };
  return {
    onFailure,
    timeoutMs,
    ...others,
    afterAgent: noted,
    onError: () => void got.push('onError'),
  } as object;
}

async function play({
  parts,
  script,
  parallel,
  abort,
  how,
}: typeof scenario extends fc.Arbitrary<infer T> ? T : never) {
  const got = parts.map((): string[] => []);
  const lifecycle = parts.map((it, at) => lifecycleOf(it, got[at] ?? []));
  const controller = new AbortController();
  const executed: string[] = [];
  // After the end of its script the model keeps answering `done`.
  const left = script.map((name) => steps[name] as ScriptEntry);
  const model = scriptedModel(() => left.shift() ?? 'done');
  const agent = new Agent({
    model,
    tools: [{ ...add, execute: () => String(executed.push('add')) }, faultyTool('throws')],
    ...{ lifecycle, parallelToolCalls: parallel, maxTurns: 4, logger: keepingLogger() },
  });
  const record = recorder();
  record.listenTo(agent, { deltas: how === 'stream' });
  const session = how === 'session' ? await agent.session() : undefined;
  const options = abort === undefined ? {} : { signal: controller.signal };
  const plain = () => (session === undefined ? agent.run('Hello', options) : session.run('Hello', options));
  const run = how === 'stream' ? agent.stream('Hello', options).result : plain();
  const ended = run.then(
    (result) => ({ result, error: undefined }),
    (error: unknown) => ({ result: undefined, error }),
  );
  for (let round = 0; round < (abort ?? 0); round += 1) await settled();
  controller.abort('stop');
  const { result, error } = await ended;
  const counts = () => [executed.length, model.requests.length, record.events.length, result?.decisions.length];
  const atEnd = counts();
  for (let round = 0; round < 4; round += 1) await settled();
  return { got, events: record.events, stored: session?.messages ?? [], result, error, atEnd, later: counts() };
}

it('with random hooks, a run settles, pairs its events, calls and hooks, and names the failed lifecycle', async () => {
  const rules = fc.asyncProperty(scenario, async (given) => {
    const { got, events, stored, result, error, atEnd, later } = await play(given);
    const history = result?.history ?? (error as LifecycleError).history;

    expect(pairingProblem(history, result?.status === 'suspended')).toBeUndefined();
    if (result !== undefined) expect(stored).toEqual(given.how === 'session' ? history : []);
    expect(unpairedEvents(events)).toEqual([]);
    expect(later).toEqual(atEnd);
    // A run that was aborted while its session was loading has not started.
    if (events.length === 0) expect(error).toBeInstanceOf(RunAbortedError);
    else expect(events.at(-1)).toMatchObject({ type: 'run-end', result });
    expect(got.filter((hooks) => hooks.length > 1)).toEqual([]);
    if (result !== undefined) {
      expect(got.flat()).not.toContain('onError');
      return;
    }
    expect(error).toBeInstanceOf(KeelsonError);
    if (error instanceof LifecycleError) {
      expect(given.parts[Number(error.lifecycle.split('#')[1]) - 1]?.onFailure).toBe('throw');
      for (const cause of causesOf(error))
        expect([boom.message, 'invalid']).toContain(cause === boom ? boom.message : kindOf(cause));
    }
  });

  expect(
    await unhandledDuring(() =>
      fc.assert(rules, { numRuns: 400, examples: [[bothCallsFail], [bothCallsAreRejected], [modelFailsTwice]] }),
    ),
  ).toEqual([]);
}, 30_000);

const hookless = {
  onFailure: 'throw',
  timeoutMs: undefined,
  ...{ beforeAgent: undefined, beforeModel: undefined, beforeToolSelection: undefined, afterModel: undefined },
  ...{ wrapModelCall: undefined, wrapToolCall: undefined, afterAgent: undefined },
} as const;
/** Both calls of `next` fail in an inner hook, so the outer hook throws an AggregateError of two LifecycleErrors. */
const bothCallsFail = {
  parts: [
    { ...hookless, wrapModelCall: 'races' },
    { ...hookless, wrapModelCall: 'throws before' },
  ],
  script: [],
  ...({ parallel: true, abort: undefined, how: 'run' } as const),
};

/** Both calls of `next` reach the model, which fails, so the hook throws an AggregateError of two ModelErrors. */
const modelFailsTwice = {
  parts: [{ ...hookless, wrapModelCall: 'races' }],
  script: ['fails', 'fails'],
  ...({ parallel: true, abort: undefined, how: 'run' } as const),
};

/** An inner hook that blocks rejects both calls of `next`, so the outer hook throws an AggregateError of two RejectedErrors. */
const bothCallsAreRejected = {
  parts: [
    { ...hookless, wrapModelCall: 'races' },
    { ...hookless, onFailure: 'block' as const, wrapModelCall: 'throws before' },
  ],
  script: [],
  ...({ parallel: true, abort: undefined, how: 'run' } as const),
};

/** Returns the causes of a failed hook. A race of several calls fails because of the model, or of inner hooks, which may block. */
function causesOf({ cause }: LifecycleError): readonly unknown[] {
  if (!(cause instanceof AggregateError)) return [cause];
  return cause.errors
    .filter((error) => !(error instanceof ModelError || error instanceof RejectedError))
    .map((error) => (error instanceof LifecycleError ? error.cause : error));
}

/** The possible causes of a failed hook: the error that it threw, or its invalid return value. */
function kindOf(cause: unknown): unknown {
  const { code } = cause as { readonly code?: string };
  return code?.endsWith('_INVALID') || code === 'ERR_RUN_ENDED' ? 'invalid' : cause;
}
