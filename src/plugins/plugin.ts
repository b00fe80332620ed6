import type { Awaitable } from '../internal/promise.js';

/** A tool as a plugin writes it: plain JSON Schema, and a text as the result. */
export interface AgentTool {
  readonly name: string;
  readonly description: string;
  /** Shown to the model, and enforced before `execute`. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Does the work. A throw becomes an error result. */
  execute(input: Record<string, unknown>): Awaitable<ToolExecutionResult>;
}

/** What came of a tool call, as plugins see it. */
export interface ToolExecutionResult {
  readonly content: string;
  /** Absent is success. */
  readonly isError?: boolean | undefined;
}

/** Tools by name. In an agent these are all tools that the agent has at the moment of the call. */
export interface PluginToolRegistry {
  /** Their names. */
  list(): string[];
  /** What the model is told of one; a copy. */
  get(name: string): Pick<AgentTool, 'name' | 'description' | 'inputSchema'> | undefined;
  /**
   * Adds a tool. An agent offers it from the next run on, until it is closed. Throws ToolInvalidError if the tool cannot
   * be used, PluginConflictError if its name is taken, and AgentClosedError after the agent was closed.
   */
  register(tool: AgentTool): void;
  /**
   * Runs a tool outside of any run, with checked arguments and past the tool hooks of the plugins. Other lifecycles of an
   * agent, such as an approval, do not see the call. Whatever goes wrong is an error result; it never rejects.
   */
  execute(name: string, input: Record<string, unknown>): Promise<ToolExecutionResult>;
}

/** What `onInit` is given. */
export interface PluginContext {
  /** The configuration as it was loaded; a copy. */
  readonly config: PluginConfig;
  /** The options of the plugin's own entry; a copy. */
  readonly options?: Record<string, unknown> | undefined;
  /** The `hostConfig` that the host application gave. */
  readonly hostConfig?: Readonly<Record<string, unknown>> | undefined;
  readonly toolRegistry: PluginToolRegistry;
}

/**
 * Where a plugin takes part. Plugins are asked in the order of the configuration, and each gets what the one before it
 * gave. What is passed in is a copy.
 */
export interface PluginHooks {
  /** Once, after every plugin is loaded and before the first message. A throw refuses the plugin. */
  onInit?(context: PluginContext): Awaitable<void>;
  /** When the agent is closed, the last plugin first, 5 s at most. */
  onShutdown?(): Awaitable<void>;
  /** Returns the user's message, as it is to go on. A throw is logged, and the message stays. */
  beforeMessage?(message: string): Awaitable<string>;
  /** Told of the answer of a run. `stopReason` is that of the last model call, such as `stop`. */
  afterResponse?(response: { content: string; stopReason: string }): Awaitable<void>;
  /**
   * Returns the call as it is to go on, or null to block it. A throw blocks it too, and the model reads the message.
   * Another name runs that tool, with its schema.
   */
  beforeToolExecute?(
    name: string,
    input: Record<string, unknown>,
  ): Awaitable<{ name: string; input: Record<string, unknown> } | null>;
  /** Returns the result as the model is to see it, of the call as it ran. After a throw the model sees none of it. */
  afterToolExecute?(
    name: string,
    input: Record<string, unknown>,
    result: ToolExecutionResult,
  ): Awaitable<ToolExecutionResult>;
}

/**
 * What a plugin module exports as its default, or makes by a factory. A class serves as well: it is constructed with the
 * options of its entry, and may have the hooks as its methods.
 */
export interface Plugin {
  /** 1–128 characters, and no other plugin's. Named in errors. */
  readonly name: string;
  readonly version?: string | undefined;
  readonly description?: string | undefined;
  /** Offered to the model beside the agent's own; those that there are when the plugin is loaded. */
  readonly tools?: readonly AgentTool[] | undefined;
  readonly hooks?: PluginHooks | undefined;
}

/** Makes a plugin from the options of its entry. */
export type PluginFactory = (options?: Record<string, unknown>) => Awaitable<Plugin>;

/** One plugin of a configuration. */
export interface PluginEntry {
  /**
   * A file or directory, relative to the directory of the configuration file; or, if there is none, the name of a package
   * in the `node_modules` of that directory or of one above it, such as `my-plugin` or `@acme/plugins/guard`.
   */
  readonly path: string;
  /** Handed to the factory or to the constructor of the class, and in the context of `onInit`. */
  readonly options?: Record<string, unknown> | undefined;
  /** Default true. With false the module is not even imported. */
  readonly enabled?: boolean | undefined;
  /** With true a failure of this plugin fails the loader, and with it the run: for a guard that must not be missing. */
  readonly required?: boolean | undefined;
  /** Lets the plugin's tools take the place of tools of the agent. Does not count in a file that was only found. */
  readonly replace?: boolean | undefined;
  /** `opencode`: every function that the module exports is a plugin for opencode. Told from the module if it is absent. */
  readonly format?: 'plugin' | 'opencode' | undefined;
  /**
   * Files and folders that it loads, relative to the folder of the configuration file. In a file that was only found, they
   * are approved with the plugin. Required for a plugin in the workspace folder itself that uses `require` or computes an
   * import.
   */
  readonly files?: readonly string[] | undefined;
}

/** What a configuration file exports as its default. A bare list of entries serves as well. */
export interface PluginConfig {
  readonly plugins: readonly PluginEntry[];
}

/**
 * Gives back what it is given: for types in a module that is to export a plugin, or a factory.
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
 * Gives back what it is given: for types in a configuration file.
 *
 * @example
 * export default definePluginConfig({ plugins: [{ path: './guard.ts', required: true }] });
 */
export function definePluginConfig(config: PluginConfig): PluginConfig {
  return config;
}
