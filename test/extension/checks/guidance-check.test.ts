import type { LifecycleLoader } from 'keelson';
import { type ExtensionInput, extensions } from 'keelson/extension';
import { describe, expect, test } from 'vitest';
import { echo } from '../../support/agent/sample-tools.js';
import { type Lab, lab } from '../../support/extension/lab.js';

const tools = ['a', 'b', 'c', 'd'].map((name) => ({ ...echo, name, execute: () => name }));

describe('a `toolConfig` in a registry without the option `tools`', () => {
  const guide = (...preferredTools: string[]): ExtensionInput => ({ id: 'guide', toolConfig: { preferredTools } });
  const late: LifecycleLoader = {
    name: 'late',
    load: (host) => void host.use({ name: 'late', tools: [{ ...echo, name: 'late_tool' }] }),
  };
  const warningsOf = ({ logger }: Lab) =>
    logger.records.filter(({ level }) => level === 'warn').map(({ message }) => message);

  test('may name a tool that a later loader adds', async () => {
    const registry = extensions([guide('late_tool')]);
    const made = lab([], { agent: { loaders: [registry, late], tools } });
    await made.agent.run('go');

    expect(made.model.requests[0]?.tools[0]?.name).toBe('late_tool');
    expect(warningsOf(made)).toEqual([]);
  });

  test('with unknown names is logged once per extension, with the nearest name, after all loaders', async () => {
    const registry = extensions([guide('late_tol', 'b', 'nothing'), { ...guide('bb', 'gone'), id: 'lazy' }]);
    const made = lab([], { agent: { loaders: [registry, late], tools } });
    await made.agent.ready();
    expect(warningsOf(made)).toEqual([]);
    await made.agent.run('go');
    await made.agent.run('go');
    registry.register({ id: 'fine', toolConfig: { toolOrder: ['a', 'b'] } });
    registry.register({ id: 'later', tool_config: { avoided_tools: ['e'] } });
    await made.agent.run('go');

    expect(warningsOf(made)).toEqual([
      'The `toolConfig` of extension "guide" names unknown tools: no tool is named "late_tol"; did you mean "late_tool"?; no tool is named "nothing". Correct the names, or set `lazy` if the tools are added later.',
      expect.stringContaining('extension "lazy"'),
      expect.stringContaining('extension "later" names unknown tools: no tool is named "e"'),
    ]);
  });

  test('logs nothing for lazy names, and for tools of an MCP server that is not connected yet', async () => {
    const lazy = { id: 'lazy', toolConfig: { preferredTools: ['gone'], lazy: true } };
    const made = lab([guide('mcp__docs__search'), lazy], { agent: { tools } });
    await made.agent.run('go');

    expect(warningsOf(made)).toEqual([]);
  });

  test('with unknown names is logged for each agent', async () => {
    const registry = extensions([guide('a')]);
    const fine = lab([], { agent: { loaders: [registry], tools } });
    const other = lab([], { agent: { loaders: [registry] } });
    await fine.agent.run('go');
    await other.agent.run('go');

    expect([warningsOf(fine).length, warningsOf(other).length]).toEqual([0, 1]);
  });
});
