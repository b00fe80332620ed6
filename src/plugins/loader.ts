import { describeError } from '../errors.js';
import { boolean, fullText, object } from '../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../internal/options/validate.js';
import { cloneData } from '../internal/plain-data.js';
import type { AgentLifecycle, LifecycleLoader, LoaderHost } from '../lifecycle/lifecycle.js';
import { configRules, type LoadedPluginConfig, type PluginConfigOptions, readPluginConfig } from './config.js';
import { PluginLoadError, PluginUntrustedError } from './error.js';
import { type PluginCalling, withoutLimit } from './hooks/call.js';
import {
  callingRules,
  type HookManager,
  type HookManagerOptions,
  PluginHookManager,
  resolveCalling,
} from './hooks/hook-manager.js';
import { pluginLifecycles } from './hooks/lifecycles.js';
import type { PluginPart } from './hooks/part.js';
import { AgentTools } from './hooks/tool-registry.js';
import { type LoadedPart, type LoadPluginsOptions, loadParts, loadRules } from './load-plugins.js';
import type { PluginContext } from './plugin.js';

/** Options of `plugins`. */
export interface PluginsOptions extends PluginConfigOptions, Omit<LoadPluginsOptions, 'taken' | 'logger' | 'clock'> {
  /** The loader's name in the agent's `status()`. Default `plugins`. */
  readonly name?: string | undefined;
  /** Data of the host application, passed to each plugin as `context.hostConfig`. */
  readonly hostConfig?: Readonly<Record<string, unknown>> | undefined;
  /**
   * If true and the configuration is invalid, the error is logged and the agent runs without plugins. Default false.
   */
  readonly optional?: boolean | undefined;
}

/** The plugins in the agent's `status()`. */
export interface PluginsStatus {
  /** The path of the configuration file. */
  readonly config: string | undefined;
  readonly plugins: readonly {
    /** The package name if the plugin comes from a package, else the plugin's own name. */
    readonly name: string;
    readonly version: string | undefined;
    readonly description: string | undefined;
    readonly path: string;
  }[];
  /** Error messages of the plugins that are not used. */
  readonly failures: readonly string[];
}

const rules = {
  ...configRules,
  opencodeClient: loadRules.opencodeClient,
  hostConfig: object,
  name: fullText,
  optional: boolean,
} satisfies OptionTable<PluginsOptions>;

/**
 * Creates a loader of plugin modules. If a plugin is invalid, its error is logged and shown in `status()`, and the
 * other plugins load. If the configuration is invalid, the loader fails.
 *
 * A configuration file named by `config` or the environment variable is trusted. A configuration file found in the
 * workspace is imported only if `gate` approves its current content. The same holds for each plugin that the found file
 * names.
 *
 * @example
 * const agent = new Agent({ model, loaders: [plugins({ config: './my-app.plugins.ts' })] });
 */
export function plugins(options: PluginsOptions = {}): LifecycleLoader {
  const load = prepareLoad(options);
  const { name = 'plugins', optional } = options;
  let status: PluginsStatus = { config: undefined, plugins: [], failures: [] };
  return {
    name,
    optional,
    status: () => status,
    async load(host) {
      const loaded = await load(host);
      try {
        for (const lifecycle of loaded.lifecycles) host.use(lifecycle);
      } catch (error) {
        await loaded.manager.onShutdown();
        throw error;
      }
      status = loaded.status;
    },
  };
}

/**
 * Creates a hook manager without plugins. Pass it to an agent as a loader.
 *
 * @example
 * const hooks = createHookManager();
 * hooks.register({ name: 'trim', hooks: { beforeMessage: (message) => message.trim() } });
 * const agent = new Agent({ model, loaders: [hooks] });
 */
export function createHookManager(options: HookManagerOptions = {}): HookManager {
  validateOptions(options, callingRules);
  const manager = new PluginHookManager(resolveCalling(options));
  const load = async (host: LoaderHost) => {
    const tools = new AgentTools(host, manager);
    const contextOf = (part: PluginPart) => ({ config: { plugins: [] }, toolRegistry: tools.registryOf(part) });
    if (!manager.isInitialised) await manager.initialiseEach(contextOf);
    for (const lifecycle of manager.lifecycles()) host.use(lifecycle);
  };
  return Object.assign(manager, { name: 'plugins', load });
}

/** The plugins that one agent has loaded. */
export interface AgentPluginSet {
  readonly status: PluginsStatus;
  readonly parts: readonly LoadedPart[];
  /** The hooks and tools of the plugins, to be added to the agent. */
  readonly lifecycles: readonly AgentLifecycle[];
  readonly manager: PluginHookManager;
}

/** Validates the options. Returns a function that loads the plugins and calls their `onInit`. */
export function prepareLoad(options: PluginsOptions): (host: LoaderHost) => Promise<AgentPluginSet> {
  validateOptions(options, rules);
  return (host) => new Load(options, host).run();
}

class Load {
  private readonly failures: string[] = [];
  private readonly calling: PluginCalling;

  constructor(
    private readonly options: PluginsOptions,
    private readonly host: LoaderHost,
  ) {
    const { logger, signal } = host;
    this.calling = { ...resolveCalling({ timeoutMs: options.timeoutMs, logger }), signal };
  }

  async run(): Promise<AgentPluginSet> {
    const loaded = await this.readConfig();
    if (loaded === undefined) return this.setOf([], new PluginHookManager(this.calling));
    const { logger, signal } = this.host;
    const taken = this.host.tools().map((tool) => tool.name);
    const { plugins: found, failures } = await loadParts(loaded, { ...this.options, logger, taken, signal });
    this.failures.push(...failures.map(({ message }) => message));
    const manager = new PluginHookManager(this.calling, found);
    const tools = new AgentTools(this.host, manager);
    try {
      await this.initialise(found, loaded, { manager, tools });
      return this.setOf(found, manager, loaded.path);
    } catch (error) {
      tools.clear();
      await manager.onShutdown();
      throw error;
    }
  }

  private async readConfig(): Promise<LoadedPluginConfig | undefined> {
    try {
      return await withoutLimit(() => readPluginConfig(this.options), this.calling);
    } catch (error) {
      if (!(error instanceof PluginUntrustedError)) throw error;
      this.host.logger.warn(error.message);
      this.failures.push(error.message);
      return undefined;
    }
  }

  /**
   * Calls `onInit` of every plugin and drops the plugins whose `onInit` fails. Each plugin sees the tools of all
   * plugins.
   */
  private async initialise(
    found: readonly LoadedPart[],
    { config }: LoadedPluginConfig,
    { manager, tools }: { readonly manager: PluginHookManager; readonly tools: AgentTools },
  ): Promise<void> {
    const { host, options } = this;
    const contextOf = (part: PluginPart): PluginContext => ({
      get config() {
        return cloneData(config);
      },
      options: cloneData(found.find((it) => it.part === part)?.options),
      hostConfig: options.hostConfig,
      toolRegistry: tools.registryOf(part),
    });
    const failed = await manager.initialiseEach(contextOf);
    host.signal?.throwIfAborted();
    for (const { plugin, error } of failed) {
      const loaded = found.find((it) => it.plugin === plugin);
      const { required, ...place } = loaded ?? { path: plugin.name };
      if (loaded) tools.clear(loaded.part);
      const refusal = new PluginLoadError(place, `its onInit failed: ${describeError(error)}`, error);
      if (required) throw refusal;
      this.failures.push(refusal.message);
    }
  }

  private setOf(found: readonly LoadedPart[], manager: PluginHookManager, config?: string): AgentPluginSet {
    const parts = found.filter(({ part }) => manager.parts.includes(part));
    const replaced = new Set(parts.flatMap((it) => it.replaced));
    const plugins = parts.map(({ plugin: { version, description }, part: { name }, path }) => ({
      ...{ name, version, description, path },
    }));
    return {
      status: { config, plugins, failures: this.failures },
      parts,
      lifecycles: pluginLifecycles(manager.parts, { timeoutMs: this.calling.timeoutMs, replaced }),
      manager,
    };
  }
}
