import { MemorySessionStore } from 'keelson';
import type { ExtensionContext, ExtensionInput } from 'keelson/extension';
import { MemoryStateStore } from 'keelson/extension';
import { expect, test } from 'vitest';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { until } from '../../support/agent/settle.js';
import { lab } from '../../support/extension/lab.js';

const hang = () => new Promise<never>(() => {});
const reads = (id: string): ExtensionInput => ({
  id,
  async onLlmOutput(_output, { getState }) {
    await getState('k');
  },
});

test('an extension without state sends nothing to the store', async () => {
  const calls: unknown[] = [];
  const state = new Proxy(new MemoryStateStore(), {
    get(store, name) {
      calls.push(name);
      return Reflect.get(store, name);
    },
  });
  const { agent } = lab([{ id: 'x', onLlmOutput: (text) => text.toUpperCase() }], { registry: { state } });
  calls.length = 0;

  expect((await (await agent.session({ id: 's' })).run('go')).text).toBe('AYE.');
  expect(calls).toEqual([]);
});

const long = { ttlMs: 60_000, sessionTtlMs: 60_000 };
const extend = (id: string, usesState?: boolean): ExtensionInput => ({
  id,
  onLlmOutput: (text) => text.toUpperCase(),
  ...(usesState !== undefined && { usesState }),
});

test('S1-6.4.1: a run in a new process extends the lifetime of state that its extensions do not touch', async () => {
  const clock = fakeClock();
  const state = new MemoryStateStore({ clock });
  const options = { registry: { state, ...long }, agent: { clock } };
  const writer = lab([{ id: 'x', onLlmOutput: (_output, { setState }) => setState('k', 1) }], options);
  await (await writer.agent.session({ id: 's' })).run('go');
  for (let count = 0; count < 3; count += 1) {
    clock.advance(50_000);
    const other = lab([extend('x')], options);
    await (await other.agent.session({ id: 's' })).run('go');
  }

  expect((await writer.registry.stats('s')).bytes).toBe(2);
});

test('a run with `usesState: false`, or without callbacks, never extends the lifetime of state', async () => {
  const touched: string[] = [];
  const touch = (session: string) => void touched.push(session);
  const state = Object.assign(Object.create(new MemoryStateStore()), { touch });
  const extension = extend('x', false);
  const addition: ExtensionInput = { id: 'y', promptAdditions: [{ position: 'system_suffix', content: 'Be brief.' }] };
  const { agent } = lab([extension, addition], { registry: { state, ...long } });
  await (await agent.session({ id: 's' })).run('go');

  expect(touched).toEqual([]);
});

test('a run does not wait for the renewal of state that its extensions may not have', async () => {
  const state = Object.assign(Object.create(new MemoryStateStore()), { touch: hang });
  const { agent } = lab([extend('x')], { registry: { state, ...long } });

  expect((await (await agent.session({ id: 's' })).run('go')).text).toBe('AYE.');
});

test('extensions with state share one time-out, and the store is called again after a pause', async () => {
  const clock = fakeClock(1);
  const store = new MemoryStateStore();
  let isAway = true;
  let asked = 0;
  const get = (...args: Parameters<MemoryStateStore['get']>) => {
    asked += 1;
    return isAway ? hang() : Promise.resolve(store.get(...args));
  };
  const state = Object.assign(Object.create(store), { get });
  const { agent, logger } = lab(['a', 'b', 'c'].map(reads), {
    registry: { state, stateTimeoutMs: 70, statePauseMs: 1_000 },
    agent: { clock },
  });
  let done = false;
  const run = agent.run('go').then(() => {
    done = true;
  });
  await until(() => asked === 1);
  clock.advance(70);
  await until(() => done);
  await run;

  expect(asked).toBe(1);
  expect(logger.records.filter(({ level }) => level === 'error')).toHaveLength(3);
  isAway = false;
  clock.advance(1_000);
  await agent.run('go');
  expect(asked).toBe(4);
});

test('onStateFailure: throw ends the run with the error of the store', async () => {
  const state = Object.assign(Object.create(new MemoryStateStore()), { get: () => Promise.reject(new Error('down')) });
  const { agent } = lab([reads('a')], { registry: { state, onStateFailure: 'throw' } });

  await expect(agent.run('go')).rejects.toMatchObject({ cause: { code: 'ERR_STATE_STORE' } });
});

test('unregister can be tried again after a failure, and says what it removed', async () => {
  const store = new MemoryStateStore();
  let isAway = true;
  const clearExtension = (id: string) => (isAway ? Promise.reject(new Error('down')) : store.clearExtension(id));
  const state = Object.assign(Object.create(store), { clearExtension });
  const { agent, registry } = lab([{ id: 'x', onLlmOutput: (_o, { setState }) => setState('k', 1) }], {
    registry: { state },
  });
  await (await agent.session({ id: 's' })).run('go');

  await expect(registry.unregister('x')).rejects.toMatchObject({ code: 'ERR_STATE_STORE' });
  isAway = false;
  expect(await registry.unregister('x')).toEqual({ clearedValues: 1 });
  expect(await registry.unregister('x')).toBe(false);
});

test('unregister with keepState keeps the state', async () => {
  const { agent, registry } = lab([{ id: 'x', onLlmOutput: (_o, { setState }) => setState('k', 1) }]);
  await (await agent.session({ id: 's' })).run('go');

  expect(await registry.unregister('x', { keepState: true })).toEqual({ clearedValues: 0 });
  expect((await registry.stats('s')).bytes).toBe(2);
});

test('clearSession, and the deletion of a session in a store of withState, remove the state of a session', async () => {
  const { agent, registry } = lab([{ id: 'x', onLlmOutput: (_o, { setState }) => setState('k', 1) }]);
  const store = registry.withState(new MemorySessionStore());
  for (const id of ['s', 't']) await (await agent.session({ id, store })).run('go');

  expect(await registry.clearSession('s')).toBe(1);
  await store.delete('t');
  expect(await store.load('t')).toBeUndefined();
  expect(await registry.stats('t')).toEqual({ bytes: 0, extensions: {} });
});

test('updateState loses no update of two registries that share a store', async () => {
  const state = new MemoryStateStore();
  const count = ({ updateState }: ExtensionContext) => updateState<number>('n', (value = 0) => value + 1);
  const counter: ExtensionInput = {
    id: 'x',
    async onLlmOutput(_output, context) {
      await Promise.all(Array.from({ length: 10 }, () => count(context)));
    },
  };
  const labs = [1, 2].map(() => lab([counter], { registry: { state } }));
  await Promise.all(labs.map(async ({ agent }) => (await agent.session({ id: 's' })).run('go')));

  expect(
    state.get({ extension: 'x', session: 's' }, 'n', {
      ttlMs: 1e9,
      sessionTtlMs: 1e9,
      extensionBytes: 99,
      sessionBytes: 99,
    }),
  ).toBe('20');
});
