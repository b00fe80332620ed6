import type { Tool } from '../../tools/tool.js';
import { PluginConflictError } from '../error.js';
import type { PluginToolRegistry } from '../plugin.js';
import { executeTool } from './execute-tool.js';
import type { HookManager } from './hook-manager.js';
import { shownTool, toTool } from './tool.js';

/**
 * Creates a tool registry for use without an agent. With a hook manager, each execution passes its `beforeToolExecute`
 * and `afterToolExecute` hooks.
 *
 * @example
 * const registry = createToolRegistry(hookManager);
 * registry.register(weather);
 * const { content } = await registry.execute('weather', { city: 'Bergen' });
 */
export function createToolRegistry(hookManager?: HookManager): PluginToolRegistry {
  const tools = new Map<string, Tool>();
  return {
    list: () => [...tools.keys()],
    get: (name) => shownTool(tools.get(name)),
    register(tool) {
      const added = toTool(tool, 'registry');
      if (tools.has(added.name))
        throw new PluginConflictError(`A tool named "${added.name}" is already registered. Choose another name.`);
      tools.set(added.name, added);
    },
    execute: (name, input) => executeTool({ name, input }, { tools: () => [...tools.values()], hooks: hookManager }),
  };
}
