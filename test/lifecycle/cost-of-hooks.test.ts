import * as keelson from 'keelson';
import { Agent, type AgentLifecycle, HookAction, type ModelResponse, type RunContext } from 'keelson';
import { recorder, scriptedModel } from 'keelson/testing';
import { describe, expect, it } from 'vitest';
import { executedFunctions } from '../support/lifecycle/executed-functions.js';
import { add, addingModel } from '../support/lifecycle/sample-agent.js';

const response: ModelResponse = {
  content: [{ type: 'text', text: 'done' }],
  finishReason: 'stop',
  usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
};

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
  const clock = { now: Date.now, setTimeout: () => count('timers'), clearTimeout: () => {} };
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
    const copying: AgentLifecycle = { wrapModelCall: (request, next) => next({ ...request, settings: { seed: 1 } }) };
    expect(await madeBy(copying)).toEqual({ ids: 0, timers: 0, signals: 0 });
  });

  it('are created once per run if a hook reads them', async () => {
    expect(await madeBy({ beforeModel: (_, run) => void run.id })).toMatchObject({ ids: 1 });
    expect(await madeBy({ afterModel: (_, run) => void run.signal })).toMatchObject({ signals: 1 });
    expect(await madeBy({ timeoutMs: 50, beforeAgent: async () => {} })).toMatchObject({ timers: 1 });
    expect(await madeBy({ timeoutMs: 50, beforeAgent: () => {} })).toMatchObject({ timers: 0 });
  });

  it('a signal that is first read after the end of its run does not follow the agent', async () => {
    const runs: RunContext[] = [];
    const lifecycle = [{ beforeAgent: (_: string, run: RunContext) => void runs.push(run) }];
    const agent = new Agent({ model: scriptedModel(['done']), lifecycle });
    await agent.run('Hello');

    const signal = runs[0]?.signal;
    await agent.close();

    expect(signal?.aborted).toBe(false);
  });
});

describe('without hooks', () => {
  it('S4-FR4.AC4, S4-FR4.8: none of the functions that call hooks is executed', async () => {
    const { callers, without, withUncalled } = await executedFunctions();

    expect(callers.length).toBeGreaterThan(2);
    expect(without.length).toBeGreaterThan(10);
    expect(without.filter((name) => callers.includes(name))).toEqual([]);
    expect(withUncalled).toEqual(without);
  }, 60_000);

  it('S4-FR5.3: the tool is called directly, with a copy of the arguments', async () => {
    const seen: unknown[] = [];
    const input = { a: 1, b: 2 };
    const looking = {
      ...add,
      check: (given: unknown) => ({ value: given }),
      execute: (given: unknown) => void seen.push(given),
    };
    const model = scriptedModel([{ label: 'calls', play: async () => calling(input) }, 'done']);

    await new Agent({ model, tools: [looking] }).run('Hello');

    expect(seen).toEqual([input]);
    expect(seen[0]).not.toBe(input);
  });
});

it('S4-NFR1.5: a run reads only the hooks that it calls, and each of them once per call', async () => {
  const reads: string[] = [];
  const hooks: AgentLifecycle = {
    beforeAgent: () => {},
    beforeModel: () => {},
    wrapModelCall: (_, next) => next(),
    wrapToolCall: (_, next) => next(),
  };
  const watched = new Proxy(hooks, {
    get(target, key, receiver) {
      reads.push(String(key));
      return Reflect.get(target, key, receiver);
    },
  });
  const answers = [calling({ a: 1, b: 2 }), response];
  const model = { id: 'two', generate: async () => answers.shift() ?? response };
  const agent = new Agent({ model, tools: [add], lifecycle: [watched] });
  await agent.ready();
  reads.length = 0;

  await agent.run('Hello');

  expect(reads).toEqual([
    ...['beforeAgent', 'beforeModel', 'wrapModelCall', 'wrapToolCall'],
    ...['beforeModel', 'wrapModelCall'],
  ]);
});

describe('the root entry', () => {
  it('S4-FR5.AC: exports no function that calls hooks or sorts lifecycles', () => {
    const inner = /compose|waterfall|chain|register|dispatch/i;

    expect(Object.keys(keelson).filter((name) => inner.test(name))).toEqual([]);
  });

  it('S4-PC1: contains no ready-made lifecycle', () => {
    const points = /^(before|after|wrap)(Agent|Model|Tool)/;
    const members = Object.values(keelson).flatMap((value: unknown) => [
      ...Object.keys(value as object),
      ...(typeof value === 'function' && value.prototype ? Object.getOwnPropertyNames(value.prototype) : []),
    ]);

    expect(members.filter((name) => points.test(name))).toEqual([]);
    expect(members).toContain('withLifecycle');
  });
});

function calling(input: unknown): ModelResponse {
  return { ...response, content: [{ type: 'tool-call', id: 'c', name: 'add', input }], finishReason: 'tool-calls' };
}
