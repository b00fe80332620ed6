import fc from 'fast-check';
import { Agent, type AgentLifecycle } from 'keelson';
import { recorder, scriptedModel } from 'keelson/testing';
import { describe, expect, it } from 'vitest';
import { add, addingModel } from '../support/lifecycle/sample-agent.js';

const threads = ['beforeAgent', 'beforeModel', 'beforeToolSelection', 'afterModel', 'afterAgent'] as const;

interface Registration {
  readonly name: string;
  readonly priority: number | undefined;
}

/** The expected order: descending priority, then registration order. */
function inOrder(registered: readonly Registration[]): string[] {
  const left = [...registered];
  const order: string[] = [];
  while (left.length > 0) {
    const highest = Math.max(...left.map(({ priority = 50 }) => priority));
    const at = left.findIndex(({ priority = 50 }) => priority === highest);
    order.push(...left.splice(at, 1).map(({ name }) => name));
  }
  return order;
}

const registrations = fc
  .array(fc.oneof(fc.constantFrom(undefined, 0, 50, 100), fc.integer({ min: 0, max: 100 })), { maxLength: 14 })
  .map((priorities) => priorities.map((priority, at): Registration => ({ name: `p${at}`, priority })));

/** Registers lifecycles, some with `lifecycle` and the others with `use`, and runs. Returns the call order per hook point. */
async function takePart(registered: readonly Registration[], early: number): Promise<Map<string, string[]>> {
  const seen = new Map<string, string[]>();
  const note = (point: string, name: string) => {
    const names = seen.get(point);
    if (names === undefined) seen.set(point, [name]);
    else names.push(name);
  };
  const lifecycles = registered.map(({ name, priority }) => noting(name, priority, note));
  const agent = new Agent({ model: addingModel(), tools: [add], lifecycle: lifecycles.slice(0, early) });
  for (const lifecycle of lifecycles.slice(early)) agent.use(lifecycle);
  await agent.run('Hello', { maxTurns: 2 });
  await agent.close();
  return seen;
}

function noting(name: string, priority: number | undefined, note: (point: string, name: string) => void) {
  const hooks = Object.fromEntries(threads.map((point) => [point, () => note(point, name)]));
  return {
    ...{ name, priority },
    ...hooks,
    wrapModelCall(_request, next) {
      note('wrapModelCall', name);
      return next();
    },
    wrapToolCall(_call, next) {
      note('wrapToolCall', name);
      return next();
    },
    onShutdown: () => note('onShutdown', name),
  } satisfies AgentLifecycle;
}

describe('hooks are called by priority, then by registration order', () => {
  it('at every hook point, for random lists of lifecycles', async () => {
    const whenever = fc.nat({ max: 14 });
    await fc.assert(
      fc.asyncProperty(registrations, whenever, async (registered, early) => {
        const expected = inOrder(registered);
        const seen = await takePart(registered, early);
        for (const point of ['beforeAgent', 'afterAgent', 'wrapToolCall'])
          expect(seen.get(point) ?? []).toEqual(expected);
        for (const point of ['beforeModel', 'beforeToolSelection', 'afterModel', 'wrapModelCall']) {
          expect(seen.get(point) ?? []).toEqual([...expected, ...expected]);
        }
        expect(seen.get('onShutdown') ?? []).toEqual([...expected].reverse());
      }),
      { numRuns: 200 },
    );
  });

  it('`agent.lifecycle` has that order', () => {
    const low = { name: 'low', priority: 0 };
    const first = { name: 'first' };
    const second = { name: 'second', priority: 50 };
    const high = { name: 'high', priority: 100 };
    const agent = new Agent({ model: scriptedModel([]), lifecycle: [low, first, second] }).withLifecycle(high);

    expect(agent.lifecycle).toEqual([high, first, second, low]);
    expect(agent.status().lifecycles.map(({ name, priority }) => [name, priority])).toEqual([
      ...[
        ['high', 100],
        ['first', 50],
        ['second', 50],
      ],
      ['low', 0],
    ]);
  });

  it('the list is sorted when it changes, never during a run', async () => {
    let reads = 0;
    const counting: AgentLifecycle = {
      get priority() {
        reads += 1;
        return 60;
      },
      beforeModel: () => {},
    };
    const agent = new Agent({ model: scriptedModel('done'), lifecycle: [{ beforeModel: () => {} }, counting] });
    await agent.run('Hello');
    const once = reads;

    await Promise.all([agent.run('Hello'), agent.run('Hello')]);

    expect(reads).toBe(once);
  });
});

describe('outside of a run', () => {
  it('session hooks are called by priority, and onShutdown in reverse', async () => {
    const record = recorder();
    const only = ['onSessionStart', 'onSessionEnd', 'onShutdown'] as const;
    const lifecycle = [record.lifecycle('a', { only }), record.lifecycle('b', { only, priority: 90 })];
    const agent = new Agent({ model: scriptedModel([]), lifecycle });

    const session = await agent.session();
    await session.close();
    await agent.close();

    expect(record.log).toEqual([
      ...['b.onSessionStart', 'a.onSessionStart'],
      ...['b.onSessionEnd', 'a.onSessionEnd'],
      ...['a.onShutdown', 'b.onShutdown'],
    ]);
  });
});
