import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, type LifecycleLoader } from 'keelson';
import { loadPluginConfig, loadPlugins, type Plugin, type PluginHooks, plugins } from 'keelson/plugins';
import { says, scriptedModel } from 'keelson/testing';
import { describe, expect, test, vi } from 'vitest';
import { fakeClock } from '../support/agent/fake-clock.js';
import { toolOf } from '../support/agent/sample-tools.js';
import { rejectionOf, until } from '../support/agent/settle.js';
import { keptLog } from '../support/concepts/augmented-run.js';
import { agentOf, agentWith, folderWith, moduleOf } from '../support/plugins/plugin-folder.js';

const script = () => [says('end')];

/** Plugins that record when they start and when they shut down. */
function noting(...given: readonly { readonly name: string; readonly hooks?: PluginHooks }[]) {
  const order: string[] = [];
  const files = given.map(({ name, hooks }): [string, string] => {
    const onInit = async (context: never) => {
      await hooks?.onInit?.(context);
      order.push(`${name} begins`);
    };
    return [`${name}.mjs`, moduleOf({ name, hooks: { onInit, onShutdown: () => void order.push(`${name} ends`) } })];
  });
  return { files: Object.fromEntries(files), order };
}

describe('a required plugin', () => {
  const guard = { path: 'guard.mjs', required: true };

  test.each([
    ['is missing', undefined],
    ['has a syntax error', 'export default {'],
    ['has no name', 'export default {};'],
    ['has the name of another plugin', "export default { name: 'a' };"],
    ['fails at onInit', "export default { name: 'guard', hooks: { onInit() { throw new Error('no rules'); } } };"],
  ])('that %s fails the run, and started plugins are shut down', async (_title, text) => {
    const { files, order } = noting({ name: 'a' });
    const workspaceDir = folderWith(text === undefined ? files : { ...files, 'guard.mjs': text });
    const { agent, model } = agentOf({ config: [{ path: 'a.mjs' }, guard], workspaceDir }, { script: script() });

    await expect(agent.ready()).rejects.toMatchObject({
      code: 'ERR_LOADER_FAILED',
      cause: { code: 'ERR_PLUGIN_LOAD', message: expect.stringContaining('guard.mjs') },
    });
    await expect(agent.run('go')).rejects.toMatchObject({ code: 'ERR_LOADER_FAILED' });
    expect(model.requests).toEqual([]);
    expect(agent.status().tools).toEqual([]);
    expect(order.filter((line) => line.endsWith('begins'))).toHaveLength(order.length / 2);
  });

  test('is shut down if the agent cannot take its tools', async () => {
    const order: string[] = [];
    const plugin = {
      name: 'guard',
      tools: [{ name: 'note', description: 'd', inputSchema: { type: 'object' }, execute: () => ({ content: 'x' }) }],
      hooks: {
        onInit: () => void agent.use({ tools: [toolOf('note', () => 'other')] }),
        onShutdown: () => void order.push('guard ends'),
      },
    };
    const workspaceDir = folderWith({ 'guard.mjs': moduleOf(plugin as never) });
    const { agent } = agentOf({ config: [guard], workspaceDir });

    await expect(agent.ready()).rejects.toMatchObject({ code: 'ERR_LOADER_FAILED' });

    expect(order).toEqual(['guard ends']);
  });

  test('that is disabled or loads does not fail the run', async () => {
    const { files, order } = noting({ name: 'guard' });
    const workspaceDir = folderWith(files);
    const config = [guard, { path: 'none.mjs', required: true, enabled: false }];
    const { agent } = agentOf({ config, workspaceDir }, { script: script() });
    await agent.run('go');

    expect(order).toEqual(['guard begins']);
  });

  test('makes `loadPlugins` reject if its entry has an unknown key', async () => {
    const entry = { path: 'none.mjs', required: true, enable: true } as never;
    const loaded = await loadPluginConfig({ config: [entry], workspaceDir: folderWith() });

    expect(await rejectionOf(loadPlugins(loaded as never))).toMatchObject({ code: 'ERR_PLUGIN_LOAD' });
  });
});

describe('an unused plugin is shut down', () => {
  const disposable = "export const A = async () => ({ dispose() { globalThis.ended?.push('A'); } });";

  test.each([
    ['a later required plugin is missing', { 'a.mjs': disposable }, { path: 'none.mjs', required: true }],
    ['its entry is listed twice', { 'a.mjs': disposable }, { path: 'a.mjs' }],
  ])('if %s', async (_title, files, entry) => {
    const ended: string[] = [];
    Object.assign(globalThis, { ended });
    const loaded = await loadPluginConfig({ config: [{ path: 'a.mjs' }, entry], workspaceDir: folderWith(files) });
    await loadPlugins(loaded as never, { logger: keptLog().logger }).catch(() => {});

    expect(ended).toEqual(['A']);
  });

  const also = (text: string) => `${disposable}\nexport const B = ${text};`;

  test.each([
    ['another factory of its module throws', also("() => { throw new Error('no'); }"), ['A']],
    [
      'another plugin of its module has an unknown hook',
      also("() => ({ befor() {}, dispose() { ended.push('B'); throw 1; } })"),
      ['B', 'A'],
    ],
    [
      'another plugin of its module has an invalid tool',
      also("() => ({ tool: { x: {} }, dispose() { ended.push('B'); } })"),
      ['B', 'A'],
    ],
    [
      'its factory exceeds the time limit',
      "export const A = async () => { await new Promise((done) => setTimeout(done, 600)); return { dispose: () => ended.push('A') }; };",
      ['A'],
    ],
    [
      'one of its tools is invalid',
      "export default { name: 'a', tools: [{ name: 'x' }], hooks: { onShutdown: () => ended.push('a') } };",
      ['a'],
    ],
  ])('if %s', async (_title, text, expected) => {
    const ended: unknown[] = [];
    Object.assign(globalThis, { ended });
    const loaded = await loadPluginConfig({
      config: [{ path: 'a.mjs' }],
      workspaceDir: folderWith({ 'a.mjs': text }),
    });
    await loadPlugins(loaded as never, { logger: keptLog().logger, timeoutMs: 400 });

    await expect.poll(() => ended).toEqual(expected);
  });

  test('when its `onInit` finishes after the time limit', async () => {
    const { files, order } = noting({ name: 'slow', hooks: { onInit: () => sleep(600) } });
    const { agent, status } = agentWith(files, { script: script(), options: { timeoutMs: 400 } });
    await agent.run('go');
    expect(status().plugins).toEqual([]);
    await expect.poll(() => order).toEqual(['slow begins', 'slow ends']);
    await agent.close();

    expect(order).toHaveLength(2);
  });

  test('if the agent is closed while plugins start', async () => {
    const { files, order } = noting({ name: 'a' }, { name: 'b', hooks: { onInit: () => sleep(50) } }, { name: 'c' });
    const { agent } = agentWith(files, { script: script() });
    const run = rejectionOf(agent.run('go'));
    await expect.poll(() => order).toEqual(['a begins']);
    await agent.close();

    expect(await run).toMatchObject({ code: 'ERR_AGENT_CLOSED' });
    await expect.poll(() => order).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
  });

  test.each<[string, string, ((name: string) => Promise<{ allowed: boolean }>)?]>([
    ['a factory runs', 'export default () => new Promise(() => {});'],
    ['a module is evaluated', 'await new Promise(() => {});'],
    [
      'an approval is pending',
      '',
      (name) => (name === 'b.mjs' ? new Promise(() => {}) : Promise.resolve({ allowed: true })),
    ],
  ])(
    'if the agent is closed while %s, without waiting and without loading another plugin',
    async (_when, b, answer) => {
      const order: string[] = [];
      const a = moduleOf({ name: 'a', hooks: { onShutdown: () => void order.push('a ends') } });
      const authorize = ({ name }: { name: string }) => {
        order.push(name);
        return answer?.(name) ?? Promise.resolve({ allowed: true });
      };
      const files = { 'a.mjs': a, 'b.mjs': b, 'c.mjs': moduleOf({ name: 'c' }) };
      const entries = Object.keys(files).map((path) => ({ path }));
      const workspaceDir = folderWith({ 'x.plugins.json': JSON.stringify(entries), ...files });
      const { agent, log } = agentOf({ appName: 'x', workspaceDir, env: {}, gate: { authorize } });
      const run = rejectionOf(agent.run('go'));
      await expect.poll(() => order).toContain('b.mjs');
      await agent.close();

      expect(await run).toMatchObject({ code: 'ERR_AGENT_CLOSED' });
      expect(order).toEqual(['x.plugins.json', 'a.mjs', 'b.mjs', 'a ends']);
      expect(log).toEqual([]);
    },
  );

  test('closing the agent does not wait for an open approval of the configuration', async () => {
    const workspaceDir = folderWith({ 'x.plugins.json': '[]' });
    const authorize = vi.fn(() => new Promise<never>(() => {}));
    // The time limit of `close` never ends on this clock.
    const { agent } = agentOf({ appName: 'x', workspaceDir, env: {}, gate: { authorize } }, { clock: fakeClock() });
    const run = rejectionOf(agent.run('go'));
    await until(() => authorize.mock.calls.length > 0);
    await agent.close();

    expect(await run).toMatchObject({ code: 'ERR_AGENT_CLOSED' });
  });

  test('if a later loader fails', async () => {
    const { files, order } = noting({ name: 'a' });
    const bad: LifecycleLoader = {
      name: 'bad',
      load() {
        throw new TypeError('bad');
      },
    };
    const loaders = [plugins({ config: [{ path: 'a.mjs' }], workspaceDir: folderWith(files) }), bad];
    const agent = new Agent({ model: scriptedModel(script()), loaders });
    await expect(agent.run('go')).rejects.toMatchObject({ code: 'ERR_LOADER_FAILED' });
    await agent.close();

    expect(order).toEqual(['a begins', 'a ends']);
  });
});

test('tools that a plugin adds after it was loaded are not offered', async () => {
  const tools: Plugin['tools'] & unknown[] = [];
  const late = { name: 'late', description: '', inputSchema: {}, execute: () => ({ content: '' }) };
  const plugin = { name: 'a', tools, hooks: { onInit: () => void tools.push(late, { ...late, name: 'work' }) } };
  const { agent, status } = agentWith(
    { 'a.mjs': moduleOf(plugin) },
    { script: script(), tools: [toolOf('work', () => '')] },
  );
  await agent.run('go');

  expect(status().failures).toEqual([]);
  expect(agent.status().tools.map(({ name }) => name)).toEqual(['work']);
});

test.each(['await new Promise(() => {});', 'export default new Promise(() => {});'])(
  'a configuration whose import exceeds the time limit fails the loader: %s',
  async (text) => {
    const folder = folderWith({ 'c.mjs': text });
    const { agent } = agentOf({ config: 'c.mjs', workspaceDir: folder, timeoutMs: 100 });

    await expect(agent.run('go')).rejects.toMatchObject({
      cause: { code: 'ERR_PLUGIN_CONFIG', message: expect.stringContaining('took longer than 100 ms') },
    });
  },
);
