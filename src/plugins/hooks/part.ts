import type { Awaitable } from '../../internal/promise.js';
import type { AgentLifecycle } from '../../lifecycle/lifecycle.js';
import type { Tool } from '../../tools/tool.js';
import type { Plugin, PluginContext, ToolExecutionResult } from '../plugin.js';
import { toTool } from './tool.js';

/** A tool call that is passed to a plugin. */
export interface PluginCall {
  readonly name: string;
  /** A copy that the plugin may change. */
  readonly input: Record<string, unknown>;
  readonly callId: string;
  readonly sessionId: string;
  /** Undefined outside of a run, and if the name is unknown. */
  readonly tool?: Tool | undefined;
}

/**
 * A plugin in the form that Keelson calls, independent of the plugin's format. Each call looks up the hook function
 * again. Return values are not validated.
 */
export interface PluginPart {
  readonly name: string;
  readonly tools: readonly Tool[];
  readonly onInit?: ((context: PluginContext) => Awaitable<void>) | undefined;
  readonly onShutdown?: (() => Awaitable<void>) | undefined;
  readonly beforeMessage?: ((message: string) => unknown) | undefined;
  readonly afterResponse?: ((response: { content: string; stopReason: string }) => Awaitable<void>) | undefined;
  readonly beforeTool?: ((call: PluginCall) => unknown) | undefined;
  /** True if properties that `beforeTool` adds or changes reach a tool whose schema would remove them. */
  readonly keepsAdded?: boolean | undefined;
  readonly afterTool?: ((call: PluginCall, result: ToolExecutionResult) => unknown) | undefined;
  /** Returns further hooks for a run. `timeoutMs` is the time limit of each hook. */
  readonly runHooks?: ((timeoutMs: number) => Partial<AgentLifecycle>) | undefined;
}

/** The callable form of each plugin that was converted from another format. */
const adapted = new WeakMap<Plugin, PluginPart>();

/** Makes calls of `plugin` use the functions of `part`. */
export function adaptPlugin(plugin: Plugin, part: PluginPart): Plugin {
  adapted.set(plugin, part);
  return plugin;
}

/**
 * Returns the callable form of a plugin. Its name is the package name if the plugin has one. Throws a ToolInvalidError
 * if a tool of the plugin is invalid.
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
