import { runInNewContext } from 'node:vm';
import { Agent } from 'keelson';
import {
  createHookManager,
  createToolRegistry,
  type Plugin,
  type PluginContext,
  type PluginHooks,
} from 'keelson/plugins';
import { calls, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';
import { unhandledDuring } from '../../support/agent/settle.js';
import { resultsIn } from '../../support/agent/transcript.js';
import { keptLog } from '../../support/concepts/augmented-run.js';

const context: PluginContext = { config: { plugins: [] }, toolRegistry: createToolRegistry() };
const never = () => new Promise<never>(() => {});

function managerOf(plugins: Readonly<Record<string, PluginHooks>>, timeoutMs = 30) {
  const { lines, logger } = keptLog();
  const manager = createHookManager({ timeoutMs, logger });
  for (const [name, hooks] of Object.entries(plugins)) manager.register({ name, hooks });
  return { manager, log: lines };
}

const marking = (mark: string): PluginHooks => ({
  beforeMessage: (message) => `${message}${mark}`,
  beforeToolExecute: async (name, input) => ({ name, input: { ...input, marks: `${input.marks ?? ''}${mark}` } }),
  afterToolExecute: (_name, _input, result) => ({ content: `${result.content}${mark}` }),
});

// covers: S3-7.2, S3-7.4
test('S3-3.1: each hook gets the value of the previous plugin, in the order of registration', async () => {
  const { manager } = managerOf({ a: marking('a'), b: marking('b'), c: marking('c') });

  expect(await manager.beforeMessage('>')).toBe('>abc');
  expect(await manager.beforeToolExecute('t', {})).toEqual({ name: 't', input: { marks: 'abc' } });
  expect(await manager.afterToolExecute('t', {}, { content: '>' })).toEqual({ content: '>abc' });
});

test('without plugins every value passes unchanged', async () => {
  const manager = createHookManager();
  const input = { a: 1 };

  expect(await manager.onInit(context)).toEqual([]);
  expect(await manager.beforeMessage('m')).toBe('m');
  expect(await manager.beforeToolExecute('t', input)).toEqual({ name: 't', input });
  expect(await manager.afterToolExecute('t', input, { content: 'c' })).toEqual({ content: 'c' });
  await manager.afterResponse({ content: '', stopReason: 'stop' });
  await manager.onShutdown();
  expect(manager.lifecycles()).toEqual([]);
});

// covers: S3-3.6
test('the first plugin that returns null blocks the call, and no later plugin runs', async () => {
  const asked: string[] = [];
  const { manager } = managerOf({
    first: {
      async beforeToolExecute() {
        asked.push('first');
        return null;
      },
    },
    second: {
      beforeToolExecute(name, input) {
        asked.push('second');
        return { name, input };
      },
    },
  });

  expect(await manager.beforeToolExecute('rm', {})).toBeNull();
  expect(await manager.judgeToolCall('rm', {})).toEqual({ blocked: 'Tool "rm" was blocked by plugin "first".' });
  expect(asked).toEqual(['first', 'first']);
});

describe('a hook that fails', () => {
  const throws = () => {
    throw new Error('broken');
  };
  const faults: Readonly<Record<string, () => never>> = {
    throws: throws,
    rejects: () => Promise.reject(new Error('broken')) as never,
    hangs: () => never() as never,
    'returns undefined': () => undefined as never,
    'returns a number': () => 42 as never,
    'returns an empty object': () => ({}) as never,
  };

  test.each(Object.entries(faults))(
    'that %s does not stop the other plugins, and the log names its plugin',
    async (_title, fault) => {
      const unhandled = await unhandledDuring(async () => {
        const hooks: PluginHooks = { beforeMessage: fault, beforeToolExecute: fault, afterToolExecute: fault };
        const { manager, log } = managerOf({ bad: hooks, good: { beforeMessage: (message) => `${message}!` } });

        expect(await manager.beforeMessage('m')).toBe('m!');
        expect(await manager.beforeToolExecute('t', {})).toBeNull();
        const result = await manager.afterToolExecute('t', {}, { content: 'the secret' });
        expect(result).toEqual({
          content: 'Plugin "bad" failed after tool "t", so the result is withheld.',
          isError: true,
        });
        expect(log).toHaveLength(3);
        expect(log.every(({ level, message }) => level === 'error' && message.includes('"bad"'))).toBe(true);
      });
      expect(unhandled).toEqual([]);
    },
  );

  test('at onInit removes its plugin, and the other plugins are initialized', async () => {
    const order: string[] = [];
    const { manager } = managerOf({
      a: { onInit: async () => void order.push('a') },
      bad: { onInit: throws },
      late: { onInit: never },
      b: { onInit: () => void order.push('b'), beforeMessage: (message) => `${message}b` },
    });
    const failed = await manager.onInit(context);

    expect(failed.map(({ plugin }) => plugin.name)).toEqual(['bad', 'late']);
    expect(manager.plugins.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(order).toEqual(['a', 'b']);
  });

  test('at afterResponse and onShutdown does not stop the other plugins; onShutdown runs in reverse order', async () => {
    const order: string[] = [];
    const hooksOf = (name: string): PluginHooks => ({
      afterResponse: ({ content, stopReason }) => void order.push(`${name} ${content} ${stopReason}`),
      onShutdown: () => void order.push(name),
    });
    const { manager } = managerOf({
      a: hooksOf('a'),
      bad: { afterResponse: throws, onShutdown: never },
      b: hooksOf('b'),
    });
    await manager.afterResponse({ content: 'hi', stopReason: 'stop' });
    await manager.onShutdown();

    expect(order).toEqual(['a hi stop', 'b hi stop', 'b', 'a']);
  });
});

test('a plugin that mutates its arguments changes nothing for the caller', async () => {
  const input = { deep: { list: [1] } };
  const result = { content: 'c' };
  const { manager } = managerOf({
    greedy: {
      beforeToolExecute(name, given) {
        (given.deep as { list: number[] }).list.push(2);
        return { name, input: { ok: true } };
      },
      afterToolExecute(_name, given, shown) {
        (given.deep as { list: number[] }).list.push(3);
        shown.content.toUpperCase();
        Object.assign(shown, { content: 'changed' });
        return { content: 'mine' };
      },
    },
  });
  await manager.beforeToolExecute('t', input);
  await manager.afterToolExecute('t', input, result);

  expect([input, result]).toEqual([{ deep: { list: [1] } }, { content: 'c' }]);
});

test('arguments that are circular, deeply nested or have a `__proto__` key pass', async () => {
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  let deep: Record<string, unknown> = {};
  for (let level = 0; level < 20_000; level += 1) deep = { deep };
  const { manager } = managerOf({ pass: { beforeToolExecute: (name, input) => ({ name, input }) } });

  const passed = await manager.beforeToolExecute('t', circle);
  expect(passed?.input.self).toBe(passed?.input);
  expect(await manager.beforeToolExecute('t', deep)).not.toBeNull();
  const odd = await manager.beforeToolExecute('t', JSON.parse('{"__proto__":{"polluted":true},"a":1}'));
  expect(Object.keys(odd?.input ?? {})).toEqual(['__proto__', 'a']);
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

test.each([
  [{}, '`name`'],
  [{ name: '' }, '`name`'],
  [{ name: 'a\nb' }, '`name`'],
  [{ name: 'x'.repeat(129) }, '`name`'],
  [{ name: 'a', beforeToolExecute: () => null }, 'must be in `hooks`'],
  [
    { name: 'a', hooks: { beforeToolExcute: () => null } },
    'unknown member `hooks.beforeToolExcute`; did you mean `beforeToolExecute`?',
  ],
  [
    {
      name: 'a',
      hooks: new (class {
        beforeToolExcute() {}
      })(),
    },
    'unknown member `hooks.beforeToolExcute`; did you mean `beforeToolExecute`?',
  ],
  [{ name: 'a', hooks: { onInit: 1 } }, '`hooks.onInit` must be a function, got 1'],
  [{ name: 'a', tools: {} }, '`tools`'],
  [{ name: 'a', version: 1 }, '`version`'],
  [null, 'null'],
])('register refuses the invalid plugin %j', (plugin, message) => {
  expect(() => createHookManager().register(plugin as Plugin)).toThrow(
    expect.objectContaining({ code: 'ERR_PLUGIN_INVALID', message: expect.stringContaining(message) }),
  );
});

test('hooks may be a class instance with other members', async () => {
  class Counting implements PluginHooks {
    count = 0;
    readonly seen = new Set<string>();
    beforeMessage(message: string) {
      return this.marked(message);
    }
    private marked(message: string) {
      this.count += 1;
      return `${message}${this.count}`;
    }
  }
  const { manager } = managerOf({ counting: new Counting() });

  expect(await manager.beforeMessage(await manager.beforeMessage('m'))).toBe('m12');
});

test('a hook gets a copy of its input, even of an object from another realm', async () => {
  const input = runInNewContext('({ deep: { n: 1 } })') as { deep: { n: number } };
  const { manager } = managerOf({
    meddler: {
      beforeToolExecute(name, { deep }) {
        (deep as { n: number }).n = 2;
        return { name, input: {} };
      },
    },
  });
  await manager.beforeToolExecute('t', input);

  expect(input.deep.n).toBe(1);
});

test('register refuses a second plugin with the same name', () => {
  const manager = createHookManager();
  manager.register({ name: 'a' });

  expect(() => manager.register({ name: 'a' })).toThrow(expect.objectContaining({ code: 'ERR_PLUGIN_CONFLICT' }));
  for (const wrong of [{ timeoutMs: 0 }, { timeout: 5 } as never]) {
    expect(() => createHookManager(wrong)).toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID' }));
  }
});

test('R65: a hook manager is a loader, which calls `onInit` once and adds the hooks and tools', async () => {
  const seen: unknown[] = [];
  const hooks = createHookManager();
  hooks.register({
    name: 'audit',
    hooks: {
      onInit: ({ toolRegistry }) => {
        seen.push(['init', toolRegistry.list()]);
        toolRegistry.register({
          ...{ name: 'own', description: 'own', inputSchema: { type: 'object' } },
          execute: () => ({ content: 'own' }),
        });
      },
      beforeToolExecute: (name, input) => {
        seen.push(['before', name]);
        return { name, input };
      },
      onShutdown: () => void seen.push('down'),
    },
  });
  const agents = ['own', 'look'].map(
    (name) =>
      new Agent({
        model: scriptedModel([calls({ name }), says('ok')]),
        tools: [toolOf('look', () => 'seen')],
        loaders: [hooks],
      }),
  );

  const results = [];
  for (const agent of agents) results.push(resultsIn((await agent.run('go')).messages));
  await agents[0]?.close();

  expect(results).toEqual([{ call_1: 'own' }, { call_1: 'seen' }]);
  expect(seen).toEqual([['init', ['look']], ['before', 'own'], ['before', 'look'], 'down']);
});
