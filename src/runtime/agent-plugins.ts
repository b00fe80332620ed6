import { readFile } from 'node:fs/promises';
import { describeError, TimeoutExceededError } from '../errors.js';
import { type Changes, type ComparedItem, changesBetween } from '../internal/changes.js';
import { systemClock, withinTime } from '../internal/clock.js';
import { logFailure } from '../internal/logger.js';
import type { AgentLifecycle, LifecycleLoader, LoaderHost } from '../lifecycle/lifecycle.js';
import { importAnew } from '../plugins/import-module.js';
import { entryOptionsOf, type PluginsStatus } from '../plugins/loader.js';
import { type PluginsOptions, plugins } from '../plugins/plugins.js';
import { toolsOf } from '../tools/tool-set.js';
import { sha256Of } from '../trust/fingerprint/bound-file.js';

const SHUTDOWN_MS = 5_000;

/** The changes of one agent's plugins in a reload. */
export interface PluginsReload extends Changes {
  readonly problems: readonly string[];
}

/** Loads the plugins of one agent, and can reload them. */
export class AgentPlugins implements LifecycleLoader {
  readonly name = 'plugins';
  readonly optional = true;
  private host: LoaderHost | undefined = undefined;
  private current: Generation | undefined = undefined;
  /** Replaced plugins. Open runs may still use them. */
  private readonly replaced: Generation[] = [];

  constructor(
    private readonly options: PluginsOptions,
    private readonly onClose: () => void,
  ) {}

  async load(host: LoaderHost): Promise<void> {
    this.host = host;
    this.current = await this.read(host, this.options);
    install(host, this.current, undefined);
  }

  status(): unknown {
    return this.current?.status;
  }

  /** Shuts down the replaced plugins. The agent itself shuts down the current plugins. */
  async close(): Promise<void> {
    this.host = undefined;
    this.onClose();
    await Promise.all(this.replaced.map(end));
  }

  /**
   * Reloads the plugins if a plugin file or the configuration file has changed, or if a plugin failed to load. Open
   * runs keep the plugins that they started with. If the new plugins cannot be read, the current plugins stay in use.
   */
  async reload(): Promise<PluginsReload> {
    const { host, current } = this;
    if (host === undefined || current === undefined) return { ...changesBetween([], []), problems: [] };
    const { failures } = current.status;
    if (current.items.length > 0 && failures.length === 0 && (await contentOf(current.status)) === current.content) {
      return { ...changesBetween(current.items, current.items), problems: [] };
    }
    try {
      const next = await this.read(host, { importModule: importAnew, ...this.options }, current);
      if (this.host === undefined) return { ...changesBetween([], []), problems: [] };
      install(host, next, current);
      this.current = next;
      this.replaced.push(current);
      return { ...changesBetween(current.items, next.items), problems: next.status.failures };
    } catch (error) {
      return { ...changesBetween(current.items, current.items), problems: [describeError(error)] };
    }
  }

  private async read(host: LoaderHost, options: PluginsOptions, before?: Generation): Promise<Generation> {
    const lifecycles: AgentLifecycle<never>[] = [];
    const own = new Set(before?.lifecycles.flatMap(toolNamesOf));
    const use = (lifecycle: AgentLifecycle<never>) => {
      lifecycles.push(lifecycle);
      return () => {};
    };
    const tools = () => host.tools().filter(({ name }) => !own.has(name));
    const loader = plugins(options);
    await loader.load(Object.create(host, { use: { value: use }, tools: { value: tools } }) as LoaderHost);
    const status = loader.status?.() as PluginsStatus;
    const [content, items] = await Promise.all([contentOf(status), itemsOf(status)]);
    return { host, lifecycles, status, content, items, removals: [] };
  }
}

interface Generation {
  readonly host: LoaderHost;
  readonly lifecycles: readonly AgentLifecycle<never>[];
  readonly status: PluginsStatus;
  /** The hashes of the configuration file and of all plugin files. */
  readonly content: string;
  readonly items: readonly ComparedItem[];
  /** Functions that remove the lifecycles of the plugins from the agent. */
  removals: readonly (() => void)[];
}

function toolNamesOf({ tools }: AgentLifecycle<never>): readonly string[] {
  return tools === undefined ? [] : toolsOf(tools).map(({ name }) => name);
}

/** Adds the plugins to the agent, at the positions of the earlier plugins. Open runs keep the earlier plugins. */
function install(host: LoaderHost, added: Generation, before: Generation | undefined): void {
  // Tool names must be unique, so the earlier tools are removed before the new tools are added.
  const places = before?.removals.map((remove) => host.use({ name: 'plugins' }, remove)) ?? [];
  added.removals = added.lifecycles.map((lifecycle, index) => host.use(lifecycle, places[index]));
  for (const remove of places.slice(added.lifecycles.length)) remove();
}

async function end({ host, lifecycles }: Generation): Promise<void> {
  const late = new TimeoutExceededError('onShutdown of a plugin', SHUTDOWN_MS);
  for (const { name, onShutdown } of lifecycles.toReversed()) {
    try {
      await withinTime(onShutdown?.(), late, systemClock);
    } catch (error) {
      logFailure(host, `onShutdown of plugin "${name}" failed; continuing.`, error);
    }
  }
}

async function contentOf({ config, plugins: found }: PluginsStatus): Promise<string> {
  const paths = [...(config === undefined ? [] : [config]), ...found.map(({ path }) => path)];
  return (await Promise.all(paths.map(hashOf))).join();
}

async function itemsOf({ plugins: found }: PluginsStatus): Promise<readonly ComparedItem[]> {
  return Promise.all(
    found.map(async (plugin) => {
      const { name, version, path } = plugin;
      return { name, content: JSON.stringify([version, path, await hashOf(path), entryOptionsOf(plugin)]) };
    }),
  );
}

async function hashOf(path: string): Promise<string> {
  return sha256Of(await readFile(path).catch(() => 'missing'));
}
