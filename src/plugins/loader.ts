import { describeError } from '../errors.js';
import { boolean, fullText, object } from '../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../internal/options/validate.js';
import { cloneData } from '../internal/plain-data.js';
import type { LifecycleLoader, LoaderHost } from '../lifecycle/lifecycle.js';
import { configRules, type LoadedPluginConfig, type PluginConfigOptions, readPluginConfig } from './config.js';
import { PluginLoadError, PluginUntrustedError } from './error.js';
import { AgentTools } from './hooks/agent-tools.js';
import { type PluginCalling, withoutLimit } from './hooks/call.js';
import { PluginHookManager, resolveCalling } from './hooks/hook-manager.js';
import { pluginLifecycles } from './hooks/lifecycles.js';
import type { PluginPart } from './hooks/part.js';
import { type LoadedPart, type LoadPluginsOptions, loadParts, loadRules } from './load-plugins.js';
import type { PluginContext, PluginEntry } from './plugin.js';

/** Which plugins an agent has, and how they are called. */
export interface PluginsOptions extends PluginConfigOptions, Omit<LoadPluginsOptions, 'taken' | 'logger' | 'clock'> {
  /** Shown in `status()`; default `plugins`. */
  readonly name?: string | undefined;
  /** Handed to each plugin as `context.hostConfig`: what the host application has to tell its plugins. */
  readonly hostConfig?: Readonly<Record<string, unknown>> | undefined;
  /** A configuration that cannot be used is logged, and the agent runs without plugins. */
  readonly optional?: boolean | undefined;
}

/** What `status()` shows of the plugins. */
export interface PluginsStatus {
  /** The configuration file. */
  readonly config: string | undefined;
  readonly plugins: readonly {
    /** The name of its package, if the entry names one; else its own. */
    readonly name: string;
    readonly version: string | undefined;
    readonly description: string | undefined;
    readonly path: string;
  }[];
  /** Why the others are not here. */
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
 * Makes a loader of plugin modules. A plugin that cannot be used is refused, logged and shown in `status()`, and the
 * others load; a configuration that cannot be used fails the loader.
 *
 * A file that `config` or the environment names is the host's own. One that was only found in the workspace, and each
 * plugin that it names, is imported only after `gate` said yes to exactly their content.
 *
 * @example
 * const agent = new Agent({ model, loaders: [plugins({ config: './my-app.plugins.ts' })] });
 */
export function plugins(options: PluginsOptions = {}): LifecycleLoader {
  validateOptions(options, rules);
  const { name = 'plugins', optional } = options;
  let status: PluginsStatus = { config: undefined, plugins: [], failures: [] };
  return {
    name,
    optional,
    status: () => status,
    async load(host) {
      status = await new Load(options, host).run();
    },
  };
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

  async run(): Promise<PluginsStatus> {
    const loaded = await this.readConfig();
    if (loaded === undefined) return { config: undefined, plugins: [], failures: this.failures };
    const { logger, signal } = this.host;
    const taken = this.host.tools().map((tool) => tool.name);
    const { plugins: found, failures } = await loadParts(loaded, { ...this.options, logger, taken, signal });
    this.failures.push(...failures.map(({ message }) => message));
    const manager = new PluginHookManager(this.calling, found);
    const tools = new AgentTools(this.host, manager);
    try {
      await this.initialise(found, loaded, { manager, tools });
      const ready = found.filter(({ part }) => manager.parts.includes(part));
      this.use(ready);
      return { config: loaded.path, plugins: ready.map(statusOf), failures: this.failures };
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

  /** Takes out the plugins whose `onInit` fails. Each of them sees the tools of all. */
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

  private use(ready: readonly LoadedPart[]): void {
    const { timeoutMs } = this.calling;
    const replaced = new Set(ready.flatMap((it) => it.replaced));
    const parts = ready.map(({ part }) => part);
    for (const lifecycle of pluginLifecycles(parts, { timeoutMs, replaced })) this.host.use(lifecycle);
  }
}

type PluginStatus = PluginsStatus['plugins'][number];

/** Beside the status, because options may hold secrets. */
const entryOptions = new WeakMap<PluginStatus, PluginEntry['options']>();

/** Returns the options of the configuration entry that loaded a plugin. */
export function entryOptionsOf(status: PluginStatus): PluginEntry['options'] {
  return entryOptions.get(status);
}

function statusOf({ plugin, part, path, options }: LoadedPart): PluginStatus {
  const { version, description } = plugin;
  const status: PluginStatus = { name: part.name, version, description, path };
  entryOptions.set(status, options);
  return status;
}
