import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Agent, type LifecycleLoader } from '../../src/index.js';
import { loadPluginConfig, loadPlugins, type Plugin, type PluginHooks, plugins } from '../../src/plugins/plugins.js';
import { says, scriptedModel } from '../../src/testing/testing.js';
import { toolOf } from '../support/agent/sample-tools.js';
import { rejectionOf } from '../support/agent/settle.js';
import { keptLog } from '../support/concepts/augmented-run.js';
import { agentOf, agentWith, folderWith, moduleOf } from '../support/plugins/plugin-folder.js';

const script = () => [says('end')];

/** Plugins that note when they begin and end. */
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

describe('a plugin that is required', () => {
  const guard = { path: 'guard.mjs', required: true };

  test.each([
    ['is not there', undefined],
    ['is broken', 'export default {'],
    ['is none', 'export default {};'],
    ['has the name of another', "export default { name: 'a' };"],
    ['fails at onInit', "export default { name: 'guard', hooks: { onInit() { throw new Error('no rules'); } } };"],
  ])('and %s fails the run, and what had begun is ended', async (_title, text) => {
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

  test('and is off, or there, is as any other', async () => {
    const { files, order } = noting({ name: 'guard' });
    const workspaceDir = folderWith(files);
    const config = [guard, { path: 'none.mjs', required: true, enabled: false }];
    const { agent } = agentOf({ config, workspaceDir }, { script: script() });
    await agent.run('go');

    expect(order).toEqual(['guard begins']);
  });

  test('fails who loads plugins by themselves as well, and an entry that cannot be read is no way around it', async () => {
    const entry = { path: 'none.mjs', required: true, enable: true } as never;
    const loaded = await loadPluginConfig({ config: [entry], workspaceDir: folderWith() });

    expect(await rejectionOf(loadPlugins(loaded as never))).toMatchObject({ code: 'ERR_PLUGIN_LOAD' });
  });
});

describe('what is not used is ended', () => {
  const disposable = "export const A = async () => ({ dispose() { globalThis.ended?.push('A'); } });";

  test.each([
    ['a later plugin is missing and required', { 'a.mjs': disposable }, { path: 'none.mjs', required: true }],
    ['it is there already', { 'a.mjs': disposable }, { path: 'a.mjs' }],
  ])('a plugin for opencode, where %s', async (_title, files, entry) => {
    const ended: string[] = [];
    Object.assign(globalThis, { ended });
    const loaded = await loadPluginConfig({ config: [{ path: 'a.mjs' }, entry], workspaceDir: folderWith(files) });
    await loadPlugins(loaded as never, { logger: keptLog().logger }).catch(() => {});

    expect(ended).toEqual(['A']);
  });

  const also = (text: string) => `${disposable}\nexport const B = ${text};`;

  test.each([
    ['another of its module throws', also("() => { throw new Error('no'); }"), ['A']],
    [
      'another has a hook that nobody knows',
      also("() => ({ befor() {}, dispose() { ended.push('B'); throw 1; } })"),
      ['B', 'A'],
    ],
    [
      'another has a tool that is none',
      also("() => ({ tool: { x: {} }, dispose() { ended.push('B'); } })"),
      ['B', 'A'],
    ],
    [
      'it was there too late',
      "export const A = async () => { await new Promise((done) => setTimeout(done, 600)); return { dispose: () => ended.push('A') }; };",
      ['A'],
    ],
    [
      'it is none, and one of its tools is none either',
      "export default { name: 'a', tools: [{ name: 'x' }], hooks: { onShutdown: () => ended.push('a') } };",
      ['a'],
    ],
  ])('a plugin for opencode, where %s', async (_title, text, expected) => {
    const ended: unknown[] = [];
    Object.assign(globalThis, { ended });
    const loaded = await loadPluginConfig({
      config: [{ path: 'a.mjs' }],
      workspaceDir: folderWith({ 'a.mjs': text }),
    });
    await loadPlugins(loaded as never, { logger: keptLog().logger, timeoutMs: 400 });

    await expect.poll(() => ended).toEqual(expected);
  });

  test('a plugin whose onInit took too long, once it is done', async () => {
    const { files, order } = noting({ name: 'slow', hooks: { onInit: () => sleep(600) } });
    const { agent, status } = agentWith(files, { script: script(), options: { timeoutMs: 400 } });
    await agent.run('go');
    expect(status().plugins).toEqual([]);
    await expect.poll(() => order).toEqual(['slow begins', 'slow ends']);
    await agent.close();

    expect(order).toHaveLength(2);
  });

  test('all of them, where the agent is closed while they begin', async () => {
    const { files, order } = noting({ name: 'a' }, { name: 'b', hooks: { onInit: () => sleep(50) } }, { name: 'c' });
    const { agent } = agentWith(files, { script: script() });
    const run = rejectionOf(agent.run('go'));
    await expect.poll(() => order).toEqual(['a begins']);
    await agent.close();

    expect(await run).toMatchObject({ code: 'ERR_AGENT_CLOSED' });
    await expect.poll(() => order).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
  });

  test.each<[string, string, ((name: string) => Promise<{ allowed: boolean }>)?]>([
    ['a plugin is made', 'export default () => new Promise(() => {});'],
    ['a plugin is evaluated', 'await new Promise(() => {});'],
    [
      'somebody is asked',
      '',
      (name) => (name === 'b.mjs' ? new Promise(() => {}) : Promise.resolve({ allowed: true })),
    ],
  ])(
    'those that were made, where the agent is closed while %s: nobody waits, and no other is',
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

  test('nothing, where the agent is closed while somebody is asked about the configuration', async () => {
    const workspaceDir = folderWith({ 'x.plugins.json': '[]' });
    const gate = { authorize: () => new Promise<never>(() => {}) };
    const { agent } = agentOf({ appName: 'x', workspaceDir, env: {}, gate });
    const run = rejectionOf(agent.run('go'));
    await sleep(20);
    const startedAt = performance.now();
    await agent.close();

    expect(await run).toMatchObject({ code: 'ERR_AGENT_CLOSED' });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  test('all of them, where a loader after them fails', async () => {
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

test('the tools of a plugin are those that it had when it was loaded', async () => {
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
  'a configuration that does not come to an end fails the loader: %s',
  async (text) => {
    const folder = folderWith({ 'c.mjs': text });
    const { agent } = agentOf({ config: 'c.mjs', workspaceDir: folder, timeoutMs: 100 });

    await expect(agent.run('go')).rejects.toMatchObject({
      cause: { code: 'ERR_PLUGIN_CONFIG', message: expect.stringContaining('took longer than 100 ms') },
    });
  },
);
