export { loadPluginConfig, type PluginConfigOptions } from './config.js';
export {
  PluginConfigError,
  PluginConflictError,
  PluginInvalidError,
  PluginLoadError,
  PluginUntrustedError,
} from './error.js';
export type { ToolVerdict } from './hooks/call.js';
export type { HookManager, HookManagerOptions } from './hooks/hook-manager.js';
export { createToolRegistry } from './hooks/tool-registry.js';
export type { ImportModule } from './import-module.js';
export { type LoadedPlugin, type LoadedPlugins, type LoadPluginsOptions, loadPlugins } from './load-plugins.js';
export { createHookManager, type PluginsOptions, type PluginsStatus, plugins } from './loader.js';
export {
  type AgentTool,
  definePlugin,
  definePluginConfig,
  type Plugin,
  type PluginConfig,
  type PluginContext,
  type PluginEntry,
  type PluginFactory,
  type PluginHooks,
  type PluginToolRegistry,
  type ToolExecutionResult,
} from './plugin.js';
export type { PluginDecision, PluginGate } from './trust.js';
