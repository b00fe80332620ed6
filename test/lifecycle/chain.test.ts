import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, it, vi } from 'vitest';
import { Agent } from '../../src/agent/agent.js';
import * as keelson from '../../src/index.js';
import { systemClock } from '../../src/internal/clock.js';
import { Stop } from '../../src/internal/stop.js';
import { type ChainCores, compileChain } from '../../src/lifecycle/chain.js';
import { compose } from '../../src/lifecycle/compose.js';
import { wrapToolCallPoint } from '../../src/lifecycle/compose-points.js';
import { HookAction } from '../../src/lifecycle/hook-action.js';
import { type HookRun, hookRunOf, isAside, scopeOf } from '../../src/lifecycle/hook-run/hook-run.js';
import { RunEnd } from '../../src/lifecycle/hook-run/run-end.js';
import type { AgentLifecycle } from '../../src/lifecycle/lifecycle.js';
import { registerLifecycle } from '../../src/lifecycle/registered-lifecycle.js';
import type { RunContext } from '../../src/lifecycle/run-context.js';
import { PendingWaterfall, runWaterfall } from '../../src/lifecycle/waterfall.js';
import type { ModelResponse } from '../../src/model/model.js';
import { recorder, scriptedModel } from '../../src/testing/testing.js';
import { plantedAgent } from '../support/lifecycle/planted-library.js';
import { add, addingModel, POINTS } from '../support/lifecycle/sample-agent.js';

const response: ModelResponse = {
  content: [{ type: 'text', text: 'core' }],
  finishReason: 'stop',
  usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
};
const cores: ChainCores = { callModel: () => response, callTool: () => ({ content: 'core' }) };

function chainOf(...lifecycles: readonly AgentLifecycle[]) {
  return compileChain(
    lifecycles.map((lifecycle, at) => registerLifecycle(lifecycle, at)),
    cores,
  );
}

/** A minimal run for the code that calls hooks. */
function bareRun(): HookRun {
  const context: Partial<RunContext> = { tools: [add] };
  return {
    context: context as RunContext,
    conversation: { resuming: undefined },
    end: new RunEnd(new Stop()),
    suspended: undefined,
    ask: () => Promise.reject(new TypeError('no model')),
    record: () => {},
    report: () => false,
  };
}

/** Fails if the waterfall does not wait for a hook. */
function finished<T>(waterfall: T | PendingWaterfall<T>): Promise<T> {
  return waterfall instanceof PendingWaterfall ? waterfall.finish() : expect.fail('the waterfall does not wait');
}

describe('the compiled chain', () => {
  it('S4-FR4.8, S4-FR5.3: has undefined for a hook point that no lifecycle implements', () => {
    const chain = chainOf({}, { name: 'named', priority: 90, timeoutMs: 10 });

    expect(POINTS.map((point) => chain[point])).toEqual(POINTS.map(() => undefined));
    expect([chain.onError, chain.holdStream]).toEqual([undefined, false]);
  });

  it('has for each hook point the lifecycles that implement it, in order', () => {
    const beforeModel = () => {};
    const chain = chainOf(
      { name: 'a', beforeModel },
      { name: 'b', afterModel: () => {} },
      { name: 'c', priority: 60, beforeModel, onError: () => {} },
    );

    expect(chain.entries.map(({ name }) => name)).toEqual(['c', 'a', 'b']);
    expect(chain.beforeModel?.entries.map(({ name }) => name)).toEqual(['c', 'a']);
    expect(chain.afterModel?.entries.map(({ name }) => name)).toEqual(['b']);
    expect(chain.onError?.map(({ name }) => name)).toEqual(['c']);
    expect([chain.beforeAgent, chain.wrapModelCall, chain.wrapToolCall, chain.afterAgent]).toEqual(
      Array.from({ length: 4 }, () => undefined),
    );
  });

  it('has true if one lifecycle holds all text, and otherwise the functions of `holdStream`', () => {
    const [first, second] = [() => undefined, () => undefined];

    expect(chainOf({ holdStream: first }).holdStream).toEqual([first]);
    expect(chainOf({ holdStream: first }, { holdStream: false }, { holdStream: second }).holdStream).toEqual([
      first,
      second,
    ]);
    expect(chainOf({ holdStream: first }, { holdStream: true }).holdStream).toBe(true);
  });

  it('waits only if one of the hooks returns a promise', async () => {
    const append = (letter: string): AgentLifecycle => ({ beforeAgent: (input) => input + letter });
    const later: AgentLifecycle = { beforeAgent: async (input) => `${input}!` };
    const sync = chainOf(append('a'), {}, append('b')).beforeAgent;
    const mixed = chainOf(append('a'), later, append('b')).beforeAgent;
    if (sync === undefined || mixed === undefined) return expect.fail('the chain is empty');

    expect(runWaterfall(sync, '>', bareRun())).toBe('>ab');
    expect(await finished(runWaterfall(mixed, '>', bareRun()))).toBe('>a!b');
  });

  it('continues with the next hook after a hook returns a promise, also a promise of undefined', async () => {
    const append = (letter: string): AgentLifecycle => ({ beforeAgent: (input) => input + letter });
    const { beforeAgent } = chainOf(append('a'), { beforeAgent: async () => {} }, append('b'));
    if (beforeAgent === undefined) return expect.fail('the chain is empty');

    expect(await finished(runWaterfall(beforeAgent, '>', bareRun()))).toBe('>ab');
  });

  it('S4-NFR1.5: does not copy the list of lifecycles in a run, and reads the wrap hooks only when it is compiled', () => {
    const { beforeAgent } = chainOf({ beforeAgent: () => {} }, { beforeAgent: (input) => input });
    const entries = [{ wrapToolCall: (_: unknown, next: () => unknown) => next() }].map((it) =>
      registerLifecycle(it as never, 1),
    );
    if (beforeAgent === undefined) return expect.fail('the chain is empty');
    const waterfall = watchReads(beforeAgent.entries);
    const wraps = watchReads(entries);

    const nested = compose(wrapToolCallPoint, wraps.list, cores.callTool);
    wraps.reads.length = 0;
    void runWaterfall({ ...beforeAgent, entries: waterfall.list }, '', bareRun());
    void nested({ id: '', name: add.name, tool: add, input: '', run: bareRun().context }, scopeOf(bareRun()));

    expect(waterfall.reads.filter((key) => !/^(length|\d+)$/.test(key))).toEqual([]);
    expect(waterfall.reads).toContain('1');
    expect(wraps.reads).toEqual([]);
  });
});

it('a run that is aborted twice keeps its first error, and halts its calls once', () => {
  const { end } = bareRun();
  let halts = 0;
  const halt = () => {
    halts += 1;
  };
  end.calls = { halt, halted: false, stop: new Stop(), reason: '', accepts: () => true, isApproved: () => false };
  const first = new RangeError('first');
  end.abort(first);
  end.abort(new RangeError('second'));

  expect(end.abortError).toBe(first);
  expect(halts).toBe(1);
});

function watchReads<T extends object>(target: T): { readonly list: T; readonly reads: string[] } {
  const reads: string[] = [];
  const list = new Proxy(target, {
    get(object, key, receiver) {
      reads.push(String(key));
      return Reflect.get(object, key, receiver);
    },
  });
  return { list, reads };
}

/** Returns the number of microtask rounds that a run takes. */
async function roundsOf(...lifecycle: readonly AgentLifecycle[]): Promise<number> {
  const agent = new Agent({ model: addingModel(), tools: [add], lifecycle });
  let rounds = 0;
  let over = false;
  const run = agent.run('Hello').then(() => {
    over = true;
  });
  while (!over) {
    await null;
    rounds += 1;
  }
  await run;
  return rounds;
}

describe('a hook that returns a plain value is not awaited', () => {
  const hooks = {
    beforeAgent: (input: string) => input,
    beforeModel: () => {},
    beforeToolSelection: () => HookAction.Continue,
    afterModel: () => HookAction.Approve,
    afterAgent: (text: string) => text,
  };

  it.each(Object.entries(hooks))(
    'H10: a hook at %s takes no more microtask rounds than a run without hooks',
    async (point, hook) => {
      const none = await roundsOf();

      expect(await roundsOf({})).toBe(none);
      expect(await roundsOf({ [point]: hook })).toBe(none);
      expect(await roundsOf({ [point]: hook }, { [point]: hook })).toBe(none);
      expect(await roundsOf({ [point]: async () => {} })).toBeGreaterThan(none);
    },
  );
});

/** Counts the ids, signals and timers of a run. Uses the second run, because the first one creates the agent's signal. */
async function madeBy(lifecycle: AgentLifecycle): Promise<Record<'ids' | 'timers' | 'signals', number>> {
  const made = { ids: 0, timers: 0, signals: 0 };
  const real = globalThis.AbortController;
  globalThis.AbortController = class extends real {
    constructor() {
      super();
      count('signals');
    }
  };
  const count = (what: keyof typeof made) => {
    made[what] += 1;
    return `${what} ${made[what]}`;
  };
  const clock = { ...systemClock, setTimeout: () => count('timers') };
  const ids = { next: () => count('ids') };
  // A model that does not read its request.
  const answers = [calling({ a: 1, b: 2 }), response, calling({ a: 1, b: 2 }), response];
  const model = { id: 'blind', generate: async () => answers.shift() ?? response };
  try {
    const agent = new Agent({ model, tools: [add], lifecycle: [lifecycle], clock, ids });
    await agent.run('Hello');
    Object.assign(made, { ids: 0, timers: 0, signals: 0 });
    await agent.run('Hello');
  } finally {
    globalThis.AbortController = real;
  }
  return made;
}

describe('ids, signals and time-outs', () => {
  it('are not created if no hook reads them', async () => {
    const blind = { ...recorder().lifecycle('blind'), wrapModelCall: undefined, wrapToolCall: undefined };

    expect(await madeBy({})).toEqual({ ids: 0, timers: 0, signals: 0 });
    expect(await madeBy(blind)).toEqual({ ids: 0, timers: 0, signals: 0 });
  });

  it('are created once per run if a hook reads them', async () => {
    expect(await madeBy({ beforeModel: (_, run) => void run.id })).toMatchObject({ ids: 1 });
    expect(await madeBy({ afterModel: (_, run) => void run.signal })).toMatchObject({ signals: 1 });
    expect(await madeBy({ timeoutMs: 50, beforeAgent: async () => {} })).toMatchObject({ timers: 1 });
    expect(await madeBy({ timeoutMs: 50, beforeAgent: () => {} })).toMatchObject({ timers: 0 });
  });
});

const dispatch = ['waterfall', 'waterfall-points', 'compose', 'compose-points', 'failure', 'hook-timer'];

/** Changes a file so that each of its functions throws when it is called. */
function trapped(text: string): string {
  const file = ts.createSourceFile('trapped.ts', text, ts.ScriptTarget.ES2022, true);
  const starts: number[] = [];
  const visit = (node: ts.Node): void => {
    const body = ts.isFunctionLike(node) && 'body' in node ? (node.body as ts.Node | undefined) : undefined;
    if (body !== undefined && ts.isBlock(body) && !ts.isConstructorDeclaration(node)) starts.push(body.getStart() + 1);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return starts.reduceRight((code, at) => `${code.slice(0, at)} throw new Error('entered');${code.slice(at)}`, text);
}

describe('without hooks', () => {
  it('S4-FR4.AC4, S4-FR4.8: no code that calls hooks is executed', async () => {
    const Trapped = await plantedAgent(dispatch.map((name) => ({ file: `lifecycle/${name}.ts`, change: trapped })));
    const run = (...lifecycle: readonly AgentLifecycle[]) =>
      new Trapped({ model: addingModel(), tools: [add], lifecycle }).run('Hello');

    expect((await run()).text).toBe('done');
    expect((await run({})).text).toBe('done');
    expect((await run({ onError: () => {}, onShutdown: () => {} })).text).toBe('done');
    await expect(run({ afterAgent: () => {} })).rejects.toThrow('entered');
    expect(() => new Trapped({ model: addingModel(), lifecycle: [{ wrapToolCall: (_, next) => next() }] })).toThrow(
      'entered',
    );
  });

  it('S4-FR5.3: the model is called directly with the request', async () => {
    const seen: unknown[] = [];
    const input = { a: 1, b: 2 };
    const looking = {
      ...add,
      check: (given: unknown) => ({ value: given }),
      execute: (given: unknown) => void seen.push(given),
    };
    const model = scriptedModel([{ label: 'calls', play: async () => calling(input) }, 'done']);

    await new Agent({ model, tools: [looking] }).run('Hello');

    expect(seen).toHaveLength(1);
    expect(seen[0]).toBe(input);
  });
});

function calling(input: unknown): ModelResponse {
  return { ...response, content: [{ type: 'tool-call', id: 'c', name: 'add', input }], finishReason: 'tool-calls' };
}

describe('several wrap hooks', () => {
  it('S4-FR5.1: nest around a model call, the first outermost', async () => {
    const record = recorder();
    const only = ['wrapModelCall'] as const;
    const model = scriptedModel(() => {
      record.listen({ type: 'model-start', runId: '', turn: 1, model: 'provider' });
      return 'done';
    });

    await new Agent({ model, lifecycle: [record.lifecycle('a', { only }), record.lifecycle('b', { only })] }).run('Hi');

    expect(record.log).toEqual([
      ...['a.wrapModelCall>', 'b.wrapModelCall>', 'model-start', '<b.wrapModelCall', '<a.wrapModelCall'],
    ]);
  });

  it('S4-FR5.2: nest around a tool call, the first outermost', async () => {
    const record = recorder();
    const only = ['wrapToolCall'] as const;
    const log: string[] = record.log as string[];
    const tool = { ...add, execute: () => String(log.push('tool')) };
    const lifecycle = [record.lifecycle('a', { only }), record.lifecycle('b', { only })];

    await new Agent({ model: addingModel(), tools: [tool], lifecycle }).run('Hi');

    expect(log).toEqual(['a.wrapToolCall>', 'b.wrapToolCall>', 'tool', '<b.wrapToolCall', '<a.wrapToolCall']);
  });

  it('S4-FR5.AC: the functions that run waterfalls and compose wraps are not part of the public surface', () => {
    const surface: readonly unknown[] = Object.values(keelson);

    expect(surface).toContain(Agent);
    for (const inner of [compose, runWaterfall, compileChain, registerLifecycle]) expect(surface).not.toContain(inner);
  });
});

describe('the core', () => {
  it('S4-PC1: contains no ready-made lifecycle', () => {
    const points = /^(before|after|wrap)(Agent|Model|Tool)/;
    const members = Object.values(keelson).flatMap((value: unknown) => [
      ...Object.keys(value as object),
      ...(typeof value === 'function' && value.prototype ? Object.getOwnPropertyNames(value.prototype) : []),
    ]);

    expect(members.filter((name) => points.test(name))).toEqual([]);
    expect(members).toContain('withLifecycle');
    expect(new Agent({ model: scriptedModel([]) }).lifecycle).toEqual([]);
  });

  it('S4-TC1: calls hooks without AsyncLocalStorage', () => {
    const dispatch = ['chain', 'waterfall', 'compose', 'failure', 'host-hooks', 'hook-timer'];
    const files = [...dispatch.map((name) => `lifecycle/${name}`), 'internal/clock', 'internal/promise'];
    const imports = files.flatMap((name) => {
      const text = readFileSync(new URL(`../../src/${name}.ts`, import.meta.url), 'utf8');
      return [...text.matchAll(/from '([^.'][^']*)'/g)].map(([, specifier]) => specifier);
    });

    expect([...new Set(imports)]).toEqual(['p-timeout']);
  });
});

it('a run whose signal is first read after its end does not listen to the agent', () => {
  const agentStop = new Stop();
  const end = new RunEnd(agentStop);
  end.finish();
  const listening = vi.spyOn(agentStop, 'onStop');

  end.stopper();

  expect(listening).not.toHaveBeenCalled();
});

it('a copy of this module, as each entry of the package has one, finds a run by the same keys', () => {
  const run = {};

  expect(hookRunOf({ [Symbol.for('keelson.run')]: run })).toBe(run);
  expect([{ [Symbol.for('keelson.aside')]: true }, {}].map(isAside)).toEqual([true, false]);
});
