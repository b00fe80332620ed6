import type { Awaitable } from '../internal/promise.js';

/** A tool of a plugin, with plain JSON Schema for its input and a string as its result. */
export interface AgentTool {
  readonly name: string;
  readonly description: string;
  /** Shown to the model, and enforced before `execute`. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Runs the tool. A thrown error becomes a tool result with `isError: true`. */
  execute(input: Record<string, unknown>): Awaitable<ToolExecutionResult>;
}

/** The result of a tool call, in the form that plugins read and write. */
export interface ToolExecutionResult {
  readonly content: string;
  /** True if the tool call failed. Default false. */
  readonly isError?: boolean | undefined;
}

/** Tools by name. In an agent the registry holds every tool that the agent currently has. */
export interface PluginToolRegistry {
  /** Returns the names of the tools. */
  list(): string[];
  /** Returns a copy of a tool's name, description and input schema. Undefined if the tool name is unknown. */
  get(name: string): Pick<AgentTool, 'name' | 'description' | 'inputSchema'> | undefined;
  /**
   * Adds a tool. An agent offers the tool from its next run until the agent is closed. Throws a ToolInvalidError if the
   * tool is invalid, a PluginConflictError if its name is taken, and an AgentClosedError if the agent is closed.
   */
  register(tool: AgentTool): void;
  /**
   * Runs a tool outside of any run. Validates the input and applies the `beforeToolExecute` and `afterToolExecute`
   * hooks of the plugins. Other lifecycles of the agent, such as an approval, do not see the call. Never rejects: every
   * failure becomes a result with `isError: true`.
   */
  execute(name: string, input: Record<string, unknown>): Promise<ToolExecutionResult>;
}

/** The argument of `onInit`. */
export interface PluginContext {
  /** A copy of the loaded configuration. */
  readonly config: PluginConfig;
  /** A copy of the `options` in the plugin's entry. */
  readonly options?: Record<string, unknown> | undefined;
  /** The `hostConfig` option of `plugins()`, set by the host application. */
  readonly hostConfig?: Readonly<Record<string, unknown>> | undefined;
  readonly toolRegistry: PluginToolRegistry;
}

/**
 * The hooks of a plugin. Plugins run in the order of the configuration. Each hook receives a copy of the value that the
 * previous plugin returned.
 */
export interface PluginHooks {
  /** Called once, after every plugin is loaded and before the first message. If it throws, the plugin is not used. */
  onInit?(context: PluginContext): Awaitable<void>;
  /** Called when the agent is closed, in reverse order of the plugins. Time limit: 5 seconds. */
  onShutdown?(): Awaitable<void>;
  /** Returns the user's message, changed or not. If it throws, the error is logged and the message stays unchanged. */
  beforeMessage?(message: string): Awaitable<string>;
  /** Called with the answer of a run. `stopReason` is the finish reason of the last model call, such as `stop`. */
  afterResponse?(response: { content: string; stopReason: string }): Awaitable<void>;
  /**
   * Returns the tool call, changed or not, or null to block it. If it throws, the call is blocked and the model reads
   * the error message. Returning another tool name runs that tool; the input must match its schema.
   */
  beforeToolExecute?(
    name: string,
    input: Record<string, unknown>,
  ): Awaitable<{ name: string; input: Record<string, unknown> } | null>;
  /**
   * Returns the tool result for the model, changed or not. `name` and `input` belong to the executed tool call. If it
   * throws, the model sees an error instead of the result.
   */
  afterToolExecute?(
    name: string,
    input: Record<string, unknown>,
    result: ToolExecutionResult,
  ): Awaitable<ToolExecutionResult>;
}

/**
 * A plugin: the default export of a plugin module, or the return value of its factory. The default export may also be a
 * class. It is constructed with the options of its entry, and its methods may be hooks.
 */
export interface Plugin {
  /** A unique name of 1 to 128 characters, used in error messages. */
  readonly name: string;
  readonly version?: string | undefined;
  readonly description?: string | undefined;
  /** Tools for the model, added to the agent's own. Tools added to this array after loading are ignored. */
  readonly tools?: readonly AgentTool[] | undefined;
  readonly hooks?: PluginHooks | undefined;
}

/** Creates a plugin from the `options` of its entry. */
export type PluginFactory = (options?: Record<string, unknown>) => Awaitable<Plugin>;

/** One plugin in a configuration. */
export interface PluginEntry {
  /**
   * The path of a file or directory, relative to the directory of the configuration file. If the path does not exist,
   * it is read as a package name, such as `my-plugin` or `@acme/plugins/guard`. The package is searched for in the
   * `node_modules` of that directory and its parent directories.
   */
  readonly path: string;
  /** Passed to the factory or class constructor, and to `onInit` as `context.options`. */
  readonly options?: Record<string, unknown> | undefined;
  /** If false, the module is not imported. Default true. */
  readonly enabled?: boolean | undefined;
  /**
   * If true and this plugin fails to load, the loader fails and so does the run. Set it for a guard that must not be
   * missing. Default false.
   */
  readonly required?: boolean | undefined;
  /**
   * If true, the plugin's tools may replace tools of the agent with the same name. Ignored in a configuration file that
   * was only found in the workspace. Default false.
   */
  readonly replace?: boolean | undefined;
  /**
   * The kind of module. With `opencode`, every exported function is a plugin for opencode. Default: detected from the
   * module.
   */
  readonly format?: 'plugin' | 'opencode' | undefined;
  /**
   * Files and directories that the plugin loads, relative to the directory of the configuration file. If the
   * configuration file was only found in the workspace, they are approved together with the plugin. Required for such a
   * plugin if it lies directly in the workspace directory and uses `require` or a computed import.
   */
  readonly files?: readonly string[] | undefined;
}

/** The default export of a configuration file. An array of entries is accepted too. */
export interface PluginConfig {
  readonly plugins: readonly PluginEntry[];
}

/**
 * Returns its argument unchanged. It adds types to a module that exports a plugin or a plugin factory.
 *
 * @example
 * export default definePlugin({
 *   name: 'guard',
 *   hooks: { beforeToolExecute: (name, input) => (name === 'erase' ? null : { name, input }) },
 * });
 */
export function definePlugin<T extends PluginFactory>(factory: T): T;
export function definePlugin(plugin: Plugin): Plugin;
export function definePlugin(plugin: Plugin | PluginFactory): Plugin | PluginFactory {
  return plugin;
}

/**
 * Returns its argument unchanged. It adds types to a configuration file.
 *
 * @example
 * export default definePluginConfig({ plugins: [{ path: './guard.ts', required: true }] });
 */
export function definePluginConfig(config: PluginConfig): PluginConfig {
  return config;
}
