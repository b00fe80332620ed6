import { defineTool } from 'keelson';
import type { AgentTool, Plugin, PluginContext, PluginHooks } from 'keelson/plugins';
import { calls, says } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { agentWith, lastResult, moduleOf } from '../../support/plugins/plugin-folder.js';

const toolOf = (name: string): AgentTool => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  execute: ({ n }) => ({ content: `${name} ${n}` }),
});
const own = defineTool({
  name: 'own',
  description: 'The agent’s own.',
  input: { type: 'object' },
  execute: (_input, { toolName, run, signal }) => ({ toolName, turn: run.turn, aborted: signal.aborted }),
});

/** Plugin modules that store the context of their `onInit`. */
function keeping(...plugins: readonly (Omit<Plugin, 'hooks'> & { readonly hooks?: PluginHooks })[]) {
  const contexts: Record<string, PluginContext> = {};
  const files = plugins.map(({ hooks, ...plugin }): [string, string] => {
    const onInit = (context: PluginContext) => {
      contexts[plugin.name] = context;
      return hooks?.onInit?.(context);
    };
    return [`${plugin.name}.mjs`, moduleOf({ ...plugin, hooks: { ...hooks, onInit } })];
  });
  return { files: Object.fromEntries(files), contexts };
}

describe('S3-4.1: the context of a plugin', () => {
  test('has the configuration, the options of its entry and the `hostConfig`', async () => {
    const { files, contexts } = keeping({ name: 'a' }, { name: 'b' });
    const hostConfig = { tenant: 'acme', open: () => 'opened' };
    const options = { n: 1, deep: { list: [1] } };
    const config = [{ path: 'a.mjs', options }, { path: 'b.mjs' }];
    const { agent } = agentWith(files, { script: [says('end')], options: { config, hostConfig } });
    await agent.run('go');

    expect(contexts.a?.options).toEqual(options);
    expect(contexts.a?.options).not.toBe(options);
    expect(contexts.b?.options).toBeUndefined();
    expect(contexts.a?.config).toEqual({ plugins: config });
    expect(contexts.b?.hostConfig).toBe(hostConfig);
  });
});

describe('the tool registry of a plugin in an agent', () => {
  test('lists, shows and executes the tools of the agent and of every plugin', async () => {
    const { files, contexts } = keeping({ name: 'a' }, { name: 'b', tools: [toolOf('late')] });
    const results: unknown[] = [];
    const hooks: PluginHooks = {
      onInit: async ({ toolRegistry }) => {
        results.push(toolRegistry.list(), toolRegistry.get('late')?.description);
        results.push(await toolRegistry.execute('late', { n: 1 }), await toolRegistry.execute('own', {}));
        results.push(await toolRegistry.execute('late', {}), await toolRegistry.execute('none', {}));
      },
    };
    const first = keeping({ name: 'first', hooks });
    const { agent } = agentWith({ ...first.files, ...files }, { script: [says('end')], tools: [own] });
    await agent.run('go');

    expect(results).toEqual([
      ...[['own', 'late'], 'Does late.', { content: 'late 1' }],
      { content: '{"toolName":"own","turn":0,"aborted":false}' },
      { content: expect.stringContaining('The arguments of "late" are not valid'), isError: true },
      { content: 'There is no tool "none". Tools: own, late.', isError: true },
    ]);
    expect(await contexts.a?.toolRegistry.execute('late', { n: 2 })).toEqual({ content: 'late 2' });
  });

  test('applies the hooks of the plugins, and gives the tool no run', async () => {
    const ending = defineTool({
      ...{ name: 'ending', description: '', input: { type: 'object' } },
      execute(_input, { run }) {
        run.end({ type: 'respond', text: 'no' });
        return null;
      },
    });
    const guard: PluginHooks = {
      beforeToolExecute: (name, input) => (name === 'own' ? null : { name, input }),
      afterToolExecute: (_name, _input, result) => ({ ...result, content: `[${result.content}]` }),
    };
    const { files, contexts } = keeping({ name: 'guard', hooks: guard });
    const { agent } = agentWith(files, { script: [says('end')], tools: [own, ending] });
    await agent.run('go');
    const registry = contexts.guard?.toolRegistry;

    expect(await registry?.execute('own', {})).toEqual({
      content: 'Tool "own" was blocked by plugin "guard".',
      isError: true,
    });
    expect(await registry?.execute('ending', {})).toMatchObject({
      content: expect.stringContaining('[`run.end` was called after'),
      isError: true,
    });
  });

  test('registers tools for the model: in `onInit` for the first run, later for the next run', async () => {
    const { files, contexts } = keeping({
      name: 'a',
      hooks: { onInit: ({ toolRegistry }) => toolRegistry.register(toolOf('early')) },
    });
    const { agent, model } = agentWith(files, { script: [calls('early', { n: 3 }), says('one'), says('two')] });
    await agent.run('go');
    expect(lastResult(model)).toEqual([{ content: 'early 3', isError: false }]);
    contexts.a?.toolRegistry.register(toolOf('late'));
    await agent.run('go');

    expect(model.requests.at(-1)?.tools.map(({ name }) => name)).toEqual(['early', 'late']);
    expect(contexts.a?.toolRegistry.list()).toEqual(['early', 'late']);
    expect(agent.status().tools).toMatchObject([{ origin: 'plugin a' }, { origin: 'plugin a' }]);
  });

  test.each([
    ['the agent', 'own', 'the agent has a tool of this name'],
    ['another plugin', 'late', 'plugin "b" has a tool of this name'],
    ['a plugin that registered it', 'early', 'plugin "b" has a tool of this name'],
  ])('refuses a tool name of %s with an error that names both owners', async (_title, name, problem) => {
    const { files, contexts } = keeping(
      { name: 'a' },
      {
        ...{ name: 'b', tools: [toolOf('late')] },
        hooks: { onInit: ({ toolRegistry }) => toolRegistry.register(toolOf('early')) },
      },
    );
    const { agent } = agentWith(files, { script: [says('end')], tools: [own] });
    await agent.run('go');
    const register = () => contexts.a?.toolRegistry.register(toolOf(name));

    expect(register).toThrow(expect.objectContaining({ code: 'ERR_PLUGIN_CONFLICT' }));
    expect(register).toThrow(`Plugin "a" cannot register the tool "${name}": ${problem}`);
  });

  test('refuses a tool without a schema', async () => {
    const { files, contexts } = keeping({ name: 'a' });
    const { agent } = agentWith(files, { script: [says('end')] });
    await agent.run('go');

    expect(() => contexts.a?.toolRegistry.register({ name: 'x' } as AgentTool)).toThrow(
      expect.objectContaining({ code: 'ERR_TOOL_INVALID' }),
    );
  });

  test('removes the tools of a plugin whose `onInit` fails', async () => {
    const { files } = keeping({
      name: 'a',
      hooks: {
        onInit({ toolRegistry }) {
          toolRegistry.register(toolOf('early'));
          throw new TypeError('no rules');
        },
      },
    });
    const { agent, status } = agentWith(files, { script: [says('end')] });
    await agent.run('go');

    expect(status()).toMatchObject({ plugins: [], failures: [expect.stringContaining('no rules')] });
    expect(agent.status().tools).toEqual([]);
  });

  test('removes all tools when the agent is closed, and refuses new tools after that', async () => {
    const { files, contexts } = keeping({
      name: 'a',
      hooks: { onInit: ({ toolRegistry }) => toolRegistry.register(toolOf('early')) },
    });
    const { agent } = agentWith(files, { script: [says('end')] });
    await agent.run('go');
    await agent.close();

    expect(contexts.a?.toolRegistry.list()).toEqual([]);
    expect(() => contexts.a?.toolRegistry.register(toolOf('late'))).toThrow(
      expect.objectContaining({ code: 'ERR_AGENT_CLOSED' }),
    );
  });
});
