export { type LoadedPluginConfig, loadPluginConfig, type PluginConfigOptions } from './config.js';
export {
  ModuleFormatError,
  OpencodeUnavailableError,
  PluginConfigError,
  PluginConflictError,
  PluginInvalidError,
  PluginLoadError,
  PluginUntrustedError,
  TypeScriptUnsupportedError,
} from './error.js';
export type { ToolVerdict } from './hooks/call.js';
export { createHookManager } from './hooks/create-hook-manager.js';
export type {
  HookManager,
  HookManagerOptions,
} from './hooks/hook-manager.js';
export { createToolRegistry } from './hooks/tool-registry.js';
export type { ImportModule } from './import-module.js';
export { type LoadedPlugin, type LoadedPlugins, type LoadPluginsOptions, loadPlugins } from './load-plugins.js';
export { type PluginsOptions, type PluginsStatus, plugins } from './loader.js';
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
export type { PluginDecision, PluginGate, PluginItem } from './trust.js';
