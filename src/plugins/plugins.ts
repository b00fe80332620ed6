export { createHookManager, type HookCallIds, type HookManager, type HookManagerOptions } from './hook-manager.js';
export type { ImportModule } from './import-module.js';
export { type LoadedPlugin, type LoadedPlugins, type LoadPluginsOptions, loadPlugins } from './load-plugins.js';
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
export type { ToolVerdict } from './plugin-call.js';
export { type LoadedPluginConfig, loadPluginConfig, type PluginConfigOptions } from './plugin-config.js';
export {
  ModuleFormatError,
  OpencodeUnavailableError,
  PluginConfigError,
  PluginConflictError,
  PluginInvalidError,
  PluginLoadError,
  PluginUntrustedError,
  TypeScriptUnsupportedError,
} from './plugin-error.js';
export { type PluginsOptions, type PluginsStatus, plugins } from './plugin-loader.js';
export type { PluginDecision, PluginGate, PluginItem } from './plugin-trust.js';
export { createToolRegistry, type ToolRegistry } from './tool-registry.js';
