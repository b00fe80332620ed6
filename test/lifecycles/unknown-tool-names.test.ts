import { Agent, type AgentLifecycle, type AgentOptions, type LoaderHost, type Tool } from 'keelson';
import { approval, limits, toolSearch } from 'keelson/lifecycles';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../support/agent/sample-tools.js';

async function warningsOf(lifecycle: AgentLifecycle, given: { tools: readonly Tool[]; late?: readonly Tool[] }) {
  const warnings: string[] = [];
  const quiet = () => {};
  const agent = new Agent({
    model: scriptedModel(['one', 'two']),
    tools: given.tools,
    lifecycle: [lifecycle],
    loaders: [{ name: 'late', load: (host) => void host.use({ tools: given.late ?? [] }) }],
    logger: { debug: quiet, info: quiet, error: quiet, warn: (message) => void warnings.push(message) },
  });
  await agent.run('go');
  await agent.run('go');
  return warnings;
}

const write = toolOf('write', () => '');
const remote = toolOf('mcp__files__read', () => '');

describe('a guard that names no tool', () => {
  const agentOf = (lifecycle: AgentLifecycle, given: Partial<AgentOptions> = {}) =>
    new Agent({ model: scriptedModel([calls('write'), 'done']), tools: [write], lifecycle: [lifecycle], ...given });

  test.each([
    ['approval({ tools })', approval({ tools: ['wriet', 'write'] })],
    ['limits({ perTool })', limits({ perTool: { wriet: 1, write: 1 } })],
  ])('%s ends every run before its first model call, with the nearest tool name', async (option, lifecycle) => {
    const agent = agentOf(lifecycle, { model: scriptedModel(() => expect.fail()) });

    for (const _ of [1, 2]) {
      await expect(agent.run('go')).rejects.toMatchObject({
        code: 'ERR_OPTION_INVALID',
        option,
        message: `\`${option}\` must name tools of the agent, got other names: no tool is named "wriet"; did you mean "write"?; correct the name, or set \`optional: true\``,
      });
    }
  });

  test('is accepted with `optional`, without a warning', async () => {
    for (const guard of [
      approval({ tools: ['pay'], optional: true }),
      limits({ perTool: { pay: 1 }, optional: true }),
    ]) {
      expect(await warningsOf(guard, { tools: [write] })).toEqual([]);
    }
  });

  test('knows the tools of later loaders, of one run, and those that a live set announces', async () => {
    const live = { revision: 0, list: () => [], prefixes: () => ['mcp__later__'] };
    const late = { name: 'late', load: (host: LoaderHost) => void host.use({ tools: [toolOf('late', () => '')] }) };
    const guard = approval({ tools: ['late', 'given', 'mcp__later__read'], ask: () => 'approve' });
    for (const given of [{ tools: live }, { tools: [], lifecycle: [guard, { tools: live }] }]) {
      const agent = agentOf(guard, { loaders: [late], ...given });

      await expect(agent.run('go', { tools: [toolOf('given', () => ''), write] })).resolves.toMatchObject({
        text: 'done',
      });
    }
  });

  test('does not take a name with the prefix of a server that nobody has configured', async () => {
    await expect(
      agentOf(approval({ tools: ['mcp__files__raed', 'read'] }), { tools: [remote] }).run('go'),
    ).rejects.toThrow(
      'no tool is named "mcp__files__raed"; did you mean "mcp__files__read"?; no tool is named "read"; did you mean "mcp__files__read"?',
    );
  });
});

describe('a configured tool name that matches no tool', () => {
  test('in toolSearch({ pinned }) is logged once, with the nearest tool name', async () => {
    expect(await warningsOf(toolSearch({ pinned: ['wriet', 'write', 'w*', 'x*'] }), { tools: [write] })).toEqual([
      'toolSearch({ pinned }): no tool is named "wriet"; did you mean "write"?',
    ]);
  });

  test('the names of tools from a loader are known', async () => {
    expect(await warningsOf(toolSearch({ over: 0, pinned: ['write'] }), { tools: [], late: [write] })).toEqual([]);
  });

  test('the name that an MCP server gave a tool pins nothing, and is logged with the whole name', async () => {
    expect(await warningsOf(toolSearch({ over: 0, pinned: ['read'] }), { tools: [remote] })).toEqual([
      'toolSearch({ pinned }): no tool is named "read"; did you mean "mcp__files__read"?',
    ]);
  });

  test('no hook is added if no names are configured', () => {
    expect(approval().onInit).toBeUndefined();
    expect(approval().beforeModel).toBeUndefined();
    expect(limits({ modelCalls: 1 }).onInit).toBeUndefined();
    expect(toolSearch({ pinned: ['*'] }).onInit).toBeUndefined();
  });
});
