import type { Awaitable } from '../../internal/promise.js';
import type { AgentLifecycle } from '../../lifecycle/lifecycle.js';
import type { Tool } from '../../tools/tool.js';
import type { Plugin, PluginContext, ToolExecutionResult } from '../plugin.js';
import { toTool } from './tool.js';

/** A tool call on its way past a plugin. */
export interface PluginCall {
  readonly name: string;
  /** The plugin's own copy. */
  readonly input: Record<string, unknown>;
  readonly callId: string;
  readonly sessionId: string;
}

/**
 * A plugin as it is called, whatever form it was written in. The functions of a Plugin are looked up at each call; what
 * they return is unchecked.
 */
export interface PluginPart {
  readonly name: string;
  readonly tools: readonly Tool[];
  readonly onInit?: ((context: PluginContext) => Awaitable<void>) | undefined;
  readonly onShutdown?: (() => Awaitable<void>) | undefined;
  readonly beforeMessage?: ((message: string) => unknown) | undefined;
  readonly afterResponse?: ((response: { content: string; stopReason: string }) => Awaitable<void>) | undefined;
  readonly beforeTool?: ((call: PluginCall) => unknown) | undefined;
  readonly afterTool?: ((call: PluginCall, result: ToolExecutionResult) => unknown) | undefined;
  /** What else it does in a run of an agent, with the time that each hook has. */
  readonly runHooks?: ((timeoutMs: number) => Partial<AgentLifecycle>) | undefined;
}

/** What stands behind plugins that were made from another form. */
const adapted = new WeakMap<Plugin, PluginPart>();

/** Has a plugin called as `part` says. */
export function adaptPlugin(plugin: Plugin, part: PluginPart): Plugin {
  adapted.set(plugin, part);
  return plugin;
}

/**
 * A plugin as it is called, with the name of its package if it has one. Throws ToolInvalidError where one of its tools
 * cannot be used.
 */
export function partOf(plugin: Plugin, packageName?: string): PluginPart {
  const known = adapted.get(plugin);
  if (known !== undefined) return known;
  const { tools = [], hooks = {} } = plugin;
  const name = packageName ?? plugin.name;
  return {
    name,
    tools: tools.map((tool) => toTool(tool, `plugin ${name}`)),
    onInit: hooks.onInit && ((context) => hooks.onInit?.(context)),
    onShutdown: hooks.onShutdown && (() => hooks.onShutdown?.()),
    beforeMessage: hooks.beforeMessage && ((message) => hooks.beforeMessage?.(message)),
    afterResponse: hooks.afterResponse && ((response) => hooks.afterResponse?.(response)),
    beforeTool: hooks.beforeToolExecute && (({ name: tool, input }) => hooks.beforeToolExecute?.(tool, input)),
    afterTool:
      hooks.afterToolExecute && (({ name: tool, input }, result) => hooks.afterToolExecute?.(tool, input, result)),
  };
}
