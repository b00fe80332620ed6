import { runInNewContext } from 'node:vm';
import { Agent } from 'keelson';
import {
  type ExtensionContext,
  type ExtensionInput,
  ExtensionRegistry,
  type ExtensionRegistryOptions,
  MemoryStateStore,
  type StateAlert,
  type StateCodec,
} from 'keelson/extension';
import type { StateStore } from 'keelson/store';
import { says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { pause, rejectionOf } from '../../support/agent/settle.js';
import { lab, recordingSink } from '../../support/extension/lab.js';

type Work = (context: ExtensionContext) => unknown;

/** Creates an agent with `act`, which runs work in a callback of an extension in one session. */
function desk(options: ExtensionRegistryOptions = {}, session = 's') {
  let work: Work = () => {};
  let outcome: unknown;
  const extension = (id: string): ExtensionInput => ({
    id,
    async onLlmOutput(_output, context) {
      if (context.context !== id) return;
      outcome = await Promise.resolve(work(context)).catch((error) => error);
    },
  });
  const made = lab([extension('x'), extension('y')], { registry: options });
  const opened = made.agent.session({ id: session });
  const act = async (next: Work, id = 'x') => {
    work = next;
    await (await opened).run('go', { context: id });
    return outcome;
  };
  return { ...made, act };
}

const failing = (over: Partial<StateStore>): StateStore => Object.assign(new MemoryStateStore(), over);
const hang = () => new Promise<never>(() => {});

describe('getState, setState, clearState', () => {
  test("S1-6.0: a value set in one run is read in the session's next run, also by a new registry on the same store", async () => {
    const state = new MemoryStateStore();
    const read: unknown[] = [];
    for (const session of ['a', 'a', 'b']) {
      const { act } = desk({ state }, session);
      read.push(await act(({ getState }) => getState('k')));
      await act(({ setState }) => setState('k', session));
    }

    expect(read).toEqual([undefined, 'a', undefined]);
  });

  test('S1-6.1.1: getState returns undefined before setState, and the value afterwards', async () => {
    const { act } = desk();

    expect(await act(({ getState }) => getState('k'))).toBeUndefined();
    await act(({ setState }) => setState('k', { deep: [1, null, 'é'] }));
    expect(await act(({ getState }) => getState('k'))).toEqual({ deep: [1, null, 'é'] });
    expect(await act(({ getState }) => getState('k'), 'y')).toBeUndefined();
    await act(({ clearState }) => clearState('k'));
    expect(await act(({ getState }) => getState('k'))).toBeUndefined();
  });

  test('S1-6.1.3: getState converts a value with a schema or codec, or rejects with a typed error', async () => {
    const map: StateCodec<Map<string, number>> = {
      encode: (value) => [...value],
      decode: (data) => new Map(data as [string, number][]),
    };
    const { act } = desk();
    await act(({ setState }) => setState('date', new Date(5)));
    await act(({ setState }) => setState('map', new Map([['a', 1]]), map));
    await act(({ setState }) => setState('n', 'text'));

    expect(await act(({ getState }) => getState('date', z.coerce.date()))).toEqual(new Date(5));
    expect(await act(({ getState }) => getState('map', map))).toEqual(new Map([['a', 1]]));
    expect(await act(({ getState }) => getState('n', z.number()))).toMatchObject({
      code: 'ERR_STATE_MISMATCH',
      key: 'n',
    });
    expect(await act(({ getState }) => getState('n', map))).toMatchObject({ code: 'ERR_STATE_MISMATCH' });
  });

  const circular: Record<string, unknown> = {};
  circular.self = circular;
  test.each([
    ['undefined', undefined],
    ['a function', () => {}],
    ['a function inside', { f: () => {} }],
    ['NaN', [Number.NaN]],
    ['undefined in an array', { list: [undefined, 1] }],
    ['a gap in an array', new Array(2)],
    ['an invalid date', { at: new Date(Number.NaN) }],
    ['a bigint', 1n],
    ['a symbol', Symbol('x')],
    ['a Map', { m: new Map() }],
    ['a Set', new Set()],
    ['a class instance', new (class Point {})()],
    ['a circular reference', circular],
    ['bytes', new Uint8Array(1)],
  ])('setState refuses %s with a typed error and keeps the old value', async (_value, value) => {
    const { act } = desk();
    await act(({ setState }) => setState('k', 'old'));

    expect(await act(({ setState }) => setState('k', value))).toMatchObject({ code: 'ERR_STATE_VALUE', key: 'k' });
    expect(await act(({ getState }) => getState('k'))).toBe('old');
  });

  test('stores the key `__proto__` as an ordinary key', async () => {
    const { act } = desk();
    await act(({ setState }) => setState('__proto__', JSON.parse('{"__proto__":{"polluted":1}}')));

    expect(Object.keys((await act(({ getState }) => getState('__proto__'))) as object)).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test('refuses an empty key, and one of more than 512 characters', async () => {
    const { act } = desk();
    const longest = 'k'.repeat(512);
    await act(({ setState }) => setState(longest, 1));

    expect(await act(({ getState }) => getState(longest))).toBe(1);
    for (const key of ['', `${longest}k`]) {
      expect(await act(({ setState }) => setState(key, 1))).toMatchObject({ code: 'ERR_STATE_KEY' });
    }
  });

  test('stores plain data that was created in another realm', async () => {
    const { act } = desk();
    await act(({ setState }) => setState('k', runInNewContext('({ a: [1, { b: new Date(5) }] })')));

    expect(await act(({ getState }) => getState('k'))).toEqual({ a: [1, { b: new Date(5).toISOString() }] });
    expect(await act(({ setState }) => setState('k', runInNewContext('new Map()')))).toMatchObject({
      code: 'ERR_STATE_VALUE',
    });
  });

  test('S1-6.3.2: clearState is logged', async () => {
    const { act, logger } = desk();
    await act(({ setState }) => setState('k', 1));
    await act(({ clearState }) => clearState());

    expect(logger.records.filter(({ message }) => message.includes('cleared'))).toEqual([
      {
        level: 'info',
        message: 'Extension "x" cleared its state in session "s".',
        details: { extensionId: 'x', session: 's', key: undefined, count: 1 },
      },
    ]);
  });
});

describe('the lifetime of state', () => {
  const minutes = (n: number) => n * 60_000;

  test("S1-6.4.1: a run restarts the lifetime of its session's values, also if it reads and writes none", async () => {
    const clock = fakeClock();
    const { act } = desk({ state: new MemoryStateStore({ clock }), ttlMs: minutes(60), sessionTtlMs: minutes(60) });
    await act(({ setState }) => setState('k', 1));
    for (let i = 0; i < 3; i++) {
      clock.advance(minutes(50));
      await act(() => {}, 'y');
    }

    expect(await act(({ getState }) => getState('k'))).toBe(1);
  });

  test('S1-11.1.1, S1-11.1.2, S1-11.1.3: a value expires one hour after its last use, or after `ttlMs`', async () => {
    for (const [ttlMs, hour] of [
      [undefined, 60],
      [minutes(6), 6],
    ] as const) {
      const clock = fakeClock();
      const { act, registry } = desk({ state: new MemoryStateStore({ clock }), ttlMs });
      await act(({ setState }) => setState('k', 1));
      clock.advance(minutes(hour) - 1);
      expect(await act(({ getState }) => getState('k'))).toBe(1);
      clock.advance(minutes(hour) - 1);
      expect(await registry.stats('s')).toEqual({ bytes: 2, extensions: { x: 2 } });
      clock.advance(1);
      expect(await act(({ getState }) => getState('k'))).toBeUndefined();
      expect(await registry.stats('s')).toEqual({ bytes: 0, extensions: {} });
    }
  });

  test('a run without a session has its own state, which is removed when the run ends or fails', async () => {
    const state = new MemoryStateStore();
    const ids: string[] = [];
    const read: unknown[] = [];
    const remember: ExtensionInput = {
      id: 'x',
      async onInputMessages(_messages, { sessionId, getState, setState }) {
        ids.push(sessionId);
        read.push(await getState('k'));
        await setState('k', 1);
      },
      onLlmOutput: async (_output, { getState }) => void read.push(await getState('k')),
    };
    const registry = new ExtensionRegistry({ state });
    registry.register(remember);
    const model = scriptedModel([says('1'), () => Promise.reject(new Error('boom'))]);
    const agent = new Agent({ model, loaders: [registry] });
    await agent.run('go');
    await agent.run('go').catch(() => {});

    expect(read).toEqual([undefined, 1, undefined]);
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(await registry.stats(id)).toEqual({ bytes: 0, extensions: {} });
  });

  test('the state methods of a context reject after its run', async () => {
    const kept: ExtensionContext[] = [];
    const { act } = desk();
    await act((context) => void kept.push(context));

    await expect(kept[0]?.setState('k', 1)).rejects.toMatchObject({ code: 'ERR_EXTENSION_EXPIRED' });
  });
});

describe('the state limits', () => {
  test('S1-11.2.1, S1-11.2.2, S1-11.2.3: a new value evicts the least recently used value, with a log entry and a metric', async () => {
    const metrics = recordingSink();
    const { act, registry, logger } = desk({ metrics, limits: { extensionBytes: 30 } });
    for (const key of ['a', 'b', 'c']) await act(({ setState }) => setState(key, 'x'.repeat(7)));
    await act(({ getState }) => getState('a'));
    await act(({ setState }) => setState('d', 'x'.repeat(17)));

    expect(await registry.stats('s')).toEqual({ bytes: 30, extensions: { x: 30 } });
    const warnings = logger.records.filter(({ level }) => level === 'warn');
    expect(warnings.map(({ details }) => details)).toEqual([
      { extensionId: 'x', session: 's', key: 'b', bytes: 10 },
      { extensionId: 'x', session: 's', key: 'c', bytes: 10 },
    ]);
    expect(warnings[0]?.message).toBe('State "b" of extension "x" was evicted to make room for a newer value.');
    expect(metrics.lines.filter((line) => line.includes('evictions'))).toEqual([
      'extension.state.evictions 1 {"extension_id":"x"}',
      'extension.state.evictions 1 {"extension_id":"x"}',
    ]);
  });

  test('S1-11.2.1: allow 10 MB per extension by default', async () => {
    const { act, registry } = desk();
    for (let i = 0; i < 11; i++) await act(({ setState }) => setState(String(i), 'x'.repeat(1_000_000)));
    const { bytes } = await registry.stats('s');

    expect(bytes).toBeLessThanOrEqual(10_000_000);
    expect(bytes).toBeGreaterThan(8_000_000);
    expect(await act(({ getState }) => getState('0'))).toBeUndefined();
  });

  test.each([
    ['throws', () => expect.unreachable('deaf')],
    ['rejects', () => Promise.reject(new Error('deaf'))],
    ['never settles', hang],
  ])(
    'S1-11.3.2: an onStateAlert that %s is called once at 80 %%, and again after a fall below',
    async (_how, answer) => {
      const alerts: StateAlert[] = [];
      const onStateAlert = (alert: StateAlert) => {
        alerts.push(alert);
        return answer();
      };
      const { act, logger } = desk({ limits: { sessionBytes: 100 }, onStateAlert });
      const counts: number[] = [];
      for (const size of [79, 80, 95, 50, 81]) {
        expect(await act(({ setState }) => setState('k', 'x'.repeat(size - 3)))).toBeUndefined();
        counts.push(alerts.length);
      }

      expect(counts).toEqual([0, 1, 1, 1, 2]);
      expect(alerts[0]).toEqual({ session: 's', bytes: 80, limitBytes: 100 });
      expect(logger.records.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual([
        'The state of session "s" takes 80 of 100 bytes.',
        'The state of session "s" takes 81 of 100 bytes.',
      ]);
    },
  );

  test('a value above the limits is refused with a typed error, and the old value stays', async () => {
    const { act } = desk({ limits: { sessionBytes: 20 } });
    await act(({ setState }) => setState('k', 'theirs'), 'y');
    await act(({ setState }) => setState('k', 'mine'));

    expect(await act(({ setState }) => setState('k', 'x'.repeat(20)))).toMatchObject({
      code: 'ERR_STATE_LIMIT',
      bytes: 23,
    });
    expect(await act(({ getState }) => getState('k'))).toBe('mine');
    expect(await act(({ getState }) => getState('k'), 'y')).toBe('theirs');
  });
});

describe('a failing state store', () => {
  test('gives the callback a typed error, and the run continues', async () => {
    const cause = new Error('down');
    const broken = () => Promise.reject(cause);
    const { act, agent } = desk({ state: failing({ get: broken, set: broken, clear: broken, touch: broken }) });

    expect(await act(({ getState }) => getState('k'))).toMatchObject({
      code: 'ERR_STATE_STORE',
      operation: 'get',
      cause,
    });
    expect(await act(({ setState }) => setState('k', 1))).toMatchObject({ code: 'ERR_STATE_STORE', operation: 'set' });
    expect(await act(({ clearState }) => clearState())).toMatchObject({ code: 'ERR_STATE_STORE', operation: 'clear' });
    await agent.close();
  });

  test('that hangs is abandoned after the timeout', async () => {
    const { act } = desk({ state: failing({ get: hang, touch: hang }), stateTimeoutMs: 10 });

    expect(await act(({ getState }) => getState('k'))).toMatchObject({ code: 'ERR_STATE_STORE', operation: 'get' });
  });

  test('that hangs does not delay an aborted run', async () => {
    const controller = new AbortController();
    const get = () => {
      setImmediate(() => controller.abort());
      return hang();
    };
    const reader: ExtensionInput = { id: 'x', onLlmOutput: (_output, { getState }) => getState<string>('k') };
    const registry = { state: failing({ get, touch: hang }) };
    // The time limit of the store never ends on this clock.
    const { agent } = lab([reader], { registry, agent: { clock: fakeClock() } });
    const session = await agent.session({ id: 'aborted' });
    const run = session.run('go', { signal: controller.signal });

    expect(await rejectionOf(run)).toMatchObject({ code: 'ERR_RUN_ABORTED' });
  });

  test('makes `unregister` reject, and the extension is removed nevertheless', async () => {
    const { registry } = desk({ state: failing({ clearExtension: () => Promise.reject(new Error('down')) }) });

    await expect(registry.unregister('x')).rejects.toMatchObject({ code: 'ERR_STATE_STORE' });
    expect(registry.get('x')).toBeUndefined();
  });

  test('S1-1.3.2: a write during the removal is removed by the next `unregister`', async () => {
    const store = new MemoryStateStore();
    const delays = [20, 0];
    const slow = failing({
      ...{ set: store.set.bind(store), stats: store.stats.bind(store) },
      async clearExtension(id) {
        await pause(delays.shift());
        return store.clearExtension(id);
      },
    });
    const { registry, agent } = lab([{ id: 'x' }], { registry: { state: slow } });
    const session = await agent.session({ id: 's' });
    const first = registry.unregister('x');
    registry.register({ id: 'x', onLlmOutput: (_output, { setState }) => void setState('k', 1) });
    await session.run('go');
    await Promise.all([first, registry.unregister('x')]);
    await pause(5);

    expect(await registry.stats('s')).toEqual({ bytes: 0, extensions: {} });
  });
});

test.each([
  [{ ttlMs: 0 }],
  [{ sessionTtlMs: Number.NaN }],
  [{ timeoutMs: 2 ** 31 }],
  [{ stateTimeoutMs: '5' as never }],
  [{ limits: { sessionBytes: -1 } }],
  [{ ttlMs: 0.5 }],
  [{ state: undefined, unknown: 1 } as never],
  [null as never],
  [{ limits: null } as never],
  [{ limits: { extensionByte: 5 } } as never],
  [{ state: {} } as never],
  [{ metrics: { counter() {} } } as never],
  [{ logger: {} } as never],
  [{ tools: 5 } as never],
  [{ tools: [null] } as never],
  [{ onStateAlert: 5 } as never],
])('refuses the options %j', (options) => {
  expect(() => new ExtensionRegistry(options)).toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID' }));
});

test('a session lives at least as long as its values, unless `sessionTtlMs` is set', async () => {
  const policies: unknown[] = [];
  const spy = failing({ get: (_scope, _key, policy) => void policies.push([policy.ttlMs, policy.sessionTtlMs]) });
  for (const times of [{}, { ttlMs: 90_000_000 }, { ttlMs: 9, sessionTtlMs: 5 }]) {
    await desk({ state: spy, ...times }).act(({ getState }) => getState('k'));
  }
  expect(policies).toEqual([
    [3_600_000, 86_400_000],
    [90_000_000, 90_000_000],
    [9, 5],
  ]);
});
