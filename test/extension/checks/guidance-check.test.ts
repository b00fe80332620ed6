import type { LifecycleLoader } from 'keelson';
import { type ExtensionInput, ExtensionRegistry, extensions } from 'keelson/extension';
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

  test('is refused at registration if no agent has the tool, and nothing is registered', () => {
    const registry = new ExtensionRegistry();

    expect(() => registry.register(guide('search'))).toThrow(
      '`toolConfig.preferredTools`: no tool is named "search"; add it to the registry\'s `tools`, or set `lazy`',
    );
    expect(registry.list()).toEqual([]);
  });

  test('may name tools of an agent that uses the registry, and tools under the prefix of a configured MCP server', async () => {
    const registry = new ExtensionRegistry();
    const servers: LifecycleLoader = {
      name: 'servers',
      load: (host) => void host.use({ tools: { revision: 0, list: () => [], prefixes: () => ['mcp__docs__'] } }),
    };
    const made = lab([], { agent: { loaders: [registry, servers], tools } });
    await made.agent.ready();

    registry.register(guide('b', 'mcp__docs__search'));
    expect(() => registry.register({ ...guide('bb'), id: 'other' })).toThrow('did you mean "b"?');
    await made.agent.run('go');

    expect(made.model.requests[0]?.tools[0]?.name).toBe('b');
    expect(warningsOf(made)).toEqual([]);
  });

  test('with `lazy` is checked once per extension at the first model call, after all loaders', async () => {
    const lazy = (id: string, ...preferredTools: string[]) => ({ id, toolConfig: { preferredTools, lazy: true } });
    const registry = extensions([lazy('guide', 'late_tol', 'b', 'nothing'), lazy('fine', 'late_tool')]);
    const made = lab([], { agent: { loaders: [registry, late], tools } });
    const other = lab([], { agent: { loaders: [registry], tools } });
    await made.agent.ready();
    expect(warningsOf(made)).toEqual([]);
    await made.agent.run('go');
    await made.agent.run('go');
    await other.agent.run('go');

    expect(warningsOf(made)).toEqual([
      'The `toolConfig` of extension "guide" names unknown tools: no tool is named "late_tol"; did you mean "late_tool"?; no tool is named "nothing". Correct the names, or add the tools.',
    ]);
    expect(warningsOf(other)).toEqual([]);
  });
});
