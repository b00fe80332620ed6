import { type HookRegistration, HookRegistry } from 'keelson/shell-hooks';
import { calls, says } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { agentWith, countingTool, hooksIn, sh, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();

/** Returns true if a guard of the package `plug` refuses a call of this tool. */
async function refuses(tool: string, more: Partial<HookRegistration>): Promise<boolean> {
  const registry = new HookRegistry();
  const origin = { extension: 'plug', root: lab.workspace, scope: 'user', dialect: 'claude' } as const;
  registry.register({ ...sh('before_tool', 'exit 2', { exitCodes: true }), ...origin, ...more });
  const { tool: called, inputs } = countingTool(tool);
  const script = [calls(tool, {}), says('ok')];
  const hooks = hooksIn(lab, { registry, approve: () => true });
  await agentWith(lab, hooks, { script, tools: [called] }).agent.run('go');
  return inputs.length === 0;
}

describe('a hook of a plugin', () => {
  test.each<[string, Partial<HookRegistration>]>([
    ['mcp__plug-few__look', { matcher: 'mcp__plugin_plug_few__look' }],
    ['mcp__plug-few__look', { matcher: 'mcp__plugin_plug_few__.*' }],
    ['mcp__plug-few__look', { matcher: 'mcp__few__look' }],
    ['mcp__plug-few__look', { matcher: 'mcp__plug-few__look' }],
    ['mcp__plug__look', { matcher: 'mcp__plugin_plug_plug__look' }],
    ['mcp__plug-few__look', { condition: 'mcp__plugin_plug_few' }],
    ['mcp__plug-few__look', { condition: 'mcp__plugin_plug_few__look' }],
    ['mcp__plug-few__look', { dialect: 'codex', matcher: 'mcp__plugin_plug_few__look' }],
  ])('guards its own MCP tool %s with %j', async (tool, more) => {
    expect(await refuses(tool, more)).toBe(true);
  });

  test.each<[string, Partial<HookRegistration>]>([
    ['mcp__other-few__look', { matcher: 'mcp__plugin_plug_few__look' }],
    ['mcp__plug-few__look', { matcher: 'mcp__plugin_other_few__look' }],
    ['mcp__few__look', { matcher: 'mcp__plugin_plug_few__look' }],
    ['mcp__plug-few__look', { extension: undefined, matcher: 'mcp__plugin_plug_few__look' }],
  ])('does not guard %s with %j', async (tool, more) => {
    expect(await refuses(tool, more)).toBe(false);
  });
});
