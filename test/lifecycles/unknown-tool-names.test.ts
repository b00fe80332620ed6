import { Agent, type AgentLifecycle, type Tool } from 'keelson';
import { approval, limits, toolSearch } from 'keelson/lifecycles';
import { scriptedModel } from 'keelson/testing';
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

describe('a configured tool name that matches no tool', () => {
  test.each([
    ['approval({ tools })', approval({ tools: ['wriet', 'write'] })],
    ['limits({ perTool })', limits({ perTool: { wriet: 1, write: 1 } })],
    ['toolSearch({ pinned })', toolSearch({ pinned: ['wriet', 'write', 'w*', 'x*'] })],
  ])('in %s is logged once, with the nearest tool name', async (option, lifecycle) => {
    expect(await warningsOf(lifecycle, { tools: [write] })).toEqual([
      `${option}: no tool is named "wriet"; did you mean "write"?`,
    ]);
  });

  test('the names of tools from a loader are known', async () => {
    expect(await warningsOf(approval({ tools: ['write'] }), { tools: [], late: [write] })).toEqual([]);
  });

  test('a tool of an MCP server without tools is not reported, a tool of a server with tools is reported', async () => {
    const lifecycle = approval({ tools: ['mcp__files__raed', 'mcp__later__read', 'read'] });

    expect(await warningsOf(lifecycle, { tools: [remote] })).toEqual([
      'approval({ tools }): no tool is named "mcp__files__raed"; did you mean "mcp__files__read"?; ' +
        'no tool is named "read"; did you mean "mcp__files__read"?',
    ]);
  });

  test('the name that an MCP server gave a tool pins nothing, and is logged with the whole name', async () => {
    expect(
      await warningsOf(toolSearch({ over: 0, pinned: ['read', 'mcp__later__read'] }), { tools: [remote] }),
    ).toEqual(['toolSearch({ pinned }): no tool is named "read"; did you mean "mcp__files__read"?']);
  });

  test('a search of `toolSearch` needs no approval, and its name is logged', async () => {
    expect(await warningsOf(approval({ tools: ['search_tools'] }), { tools: [write] })).toEqual([
      'approval({ tools }): no tool is named "search_tools"',
    ]);
  });

  test('no hook is added if no names are configured', () => {
    expect(approval().onInit).toBeUndefined();
    expect(approval().beforeModel).toBeUndefined();
    expect(limits({ modelCalls: 1 }).onInit).toBeUndefined();
    expect(toolSearch({ pinned: ['*'] }).onInit).toBeUndefined();
  });
});
