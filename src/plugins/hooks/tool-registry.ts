import { AgentClosedError } from '../../errors.js';
import type { LoaderHost } from '../../lifecycle/lifecycle.js';
import type { Tool } from '../../tools/tool.js';
import { PluginConflictError } from '../error.js';
import type { AgentTool, PluginToolRegistry } from '../plugin.js';
import { executeTool, type ToolExecution } from './execute-tool.js';
import type { HookManager, PluginHookManager } from './hook-manager.js';
import type { PluginPart } from './part.js';
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
  const tools: Tool[] = [];
  const register = (tool: AgentTool) => {
    const added = toTool(tool, 'registry');
    if (tools.some(({ name }) => name === added.name))
      throw new PluginConflictError(`A tool named "${added.name}" is already registered. Choose another name.`);
    tools.push(added);
  };
  return { ...registryOver({ tools: () => tools, hooks: hookManager }), register };
}

/** Returns the members of a tool registry that read and run tools. If several tools have one name, the last is used. */
function registryOver(execution: ToolExecution): Omit<PluginToolRegistry, 'register'> {
  const { tools } = execution;
  return {
    list: () => [...new Set(tools().map(({ name }) => name))],
    get: (name) => shownTool(tools().findLast((tool) => tool.name === name)),
    execute: (name, input) => executeTool({ name, input }, execution),
  };
}

interface RegisteredTool {
  readonly tool: Tool;
  readonly owner: PluginPart;
  /** Removes the tool from the agent. */
  readonly remove: () => void;
}

/** The tool registry of an agent's plugins. It holds the agent's tools and the tools that plugins register. */
export class AgentTools {
  private registered: readonly RegisteredTool[] = [];

  constructor(
    private readonly host: LoaderHost,
    private readonly manager: PluginHookManager,
  ) {
    host.signal.addEventListener('abort', () => this.clear(), { once: true });
  }

  registryOf(owner: PluginPart): PluginToolRegistry {
    return {
      ...registryOver({ tools: () => this.all(), hooks: this.manager, agent: this.host }),
      register: (tool) => this.register(toTool(tool, `plugin ${owner.name}`), owner),
    };
  }

  /** Removes the tools that the given plugin has registered, or all registered tools without an argument. */
  clear(plugin?: PluginPart): void {
    const matches = ({ owner }: RegisteredTool) => plugin === undefined || owner === plugin;
    for (const each of this.registered) if (matches(each)) each.remove();
    this.registered = this.registered.filter((each) => !matches(each));
  }

  private all(): readonly Tool[] {
    return [...this.host.tools(), ...this.manager.parts.flatMap(({ tools }) => tools)];
  }

  private register(tool: Tool, owner: PluginPart): void {
    const { agent, signal } = this.host;
    if (signal.aborted) throw new AgentClosedError(agent);
    if (this.all().some(({ name }) => name === tool.name)) {
      const problem = `${this.ownerOf(tool.name)} has a tool of this name. Choose another name.`;
      throw new PluginConflictError(`Plugin "${owner.name}" cannot register the tool "${tool.name}": ${problem}`);
    }
    const remove = this.host.use({ name: owner.name, tools: [tool] });
    this.registered = [...this.registered, { tool, owner, remove }];
  }

  private ownerOf(name: string): string {
    const other =
      this.registered.find(({ tool }) => tool.name === name)?.owner ??
      this.manager.parts.find(({ tools }) => tools.some((tool) => tool.name === name));
    return other === undefined ? 'the agent' : `plugin "${other.name}"`;
  }
}
