import { readFile } from 'node:fs/promises';
import { describeError } from '../errors.js';
import { type Changes, type ComparedItem, changesBetween } from '../internal/changes.js';
import type { AgentLifecycle, LifecycleLoader, LoaderHost } from '../lifecycle/lifecycle.js';
import { importAnew } from '../plugins/import-module.js';
import { type AgentPluginSet, prepareLoad } from '../plugins/loader.js';
import type { PluginsOptions } from '../plugins/plugins.js';
import type { Tool, ToolSource } from '../tools/tool.js';
import { toolsOf } from '../tools/tool-set.js';
import { sha256Of } from '../trust/fingerprint/bound-file.js';

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
    this.current = await load(host, this.options);
    this.current.uses.install();
  }

  status(): unknown {
    return this.current?.set.status;
  }

  /** Shuts down the replaced plugins. The agent itself shuts down the current plugins. */
  async close(): Promise<void> {
    this.host = undefined;
    this.onClose();
    await Promise.all(this.replaced.map(({ set }) => set.manager.onShutdown()));
  }

  /**
   * Reloads the plugins if a plugin file or the configuration file has changed, or if a plugin failed to load. Open
   * runs keep the plugins that they started with. If the new plugins cannot be read, the current plugins stay in use.
   */
  async reload(): Promise<PluginsReload> {
    const { host, current } = this;
    if (host === undefined || current === undefined) return { ...changesBetween([], []), problems: [] };
    const { set, items, content } = current;
    const unchanged = changesBetween(items, items);
    const isWhole = items.length > 0 && set.status.failures.length === 0;
    if (isWhole && (await contentOf(set)).content === content) return { ...unchanged, problems: [] };
    try {
      const next = await load(host, { importModule: importAnew, ...this.options }, current.uses);
      if (this.host === undefined) return { ...changesBetween([], []), problems: [] };
      next.uses.install(current.uses);
      this.current = next;
      this.replaced.push(current);
      return { ...changesBetween(items, next.items), problems: next.set.status.failures };
    } catch (error) {
      return { ...unchanged, problems: [describeError(error)] };
    }
  }
}

/** Plugins that were loaded together. */
interface Generation {
  readonly set: AgentPluginSet;
  readonly uses: HeldUses;
  readonly items: readonly ComparedItem[];
  /** A string that differs if the configuration file or a plugin file differs. */
  readonly content: string;
}

async function load(host: LoaderHost, options: PluginsOptions, before?: HeldUses): Promise<Generation> {
  const uses = new HeldUses(host, before);
  const set = await prepareLoad(options)(uses.host);
  for (const lifecycle of set.lifecycles) uses.use(lifecycle);
  return { set, uses, ...(await contentOf(set)) };
}

/**
 * Holds back the lifecycles of plugins until `install`, so that a failed reload changes nothing. Later lifecycles, such
 * as a tool that a plugin registers during a run, reach the agent at once.
 */
class HeldUses {
  readonly host: LoaderHost;
  private lifecycles: readonly AgentLifecycle<never>[] = [];
  /** Functions that remove the lifecycles from the agent. Undefined before `install`. */
  private removals: (() => void)[] | undefined = undefined;
  /** True once newer plugins have replaced these. Open runs may still use the old plugins, which add nothing more. */
  private isReplaced = false;

  constructor(
    private readonly agent: LoaderHost,
    before: HeldUses | undefined,
  ) {
    const replaced = new Set(before?.tools().map(({ name }) => name));
    const tools = () => {
      if (this.removals !== undefined) return agent.tools();
      return [...agent.tools().filter(({ name }) => !replaced.has(name)), ...this.tools()];
    };
    const use = (lifecycle: AgentLifecycle<never>) => this.use(lifecycle);
    this.host = Object.create(agent, { use: { value: use }, tools: { value: tools } }) as LoaderHost;
  }

  use(lifecycle: AgentLifecycle<never>): () => void {
    if (this.isReplaced) return () => {};
    this.lifecycles = [...this.lifecycles, lifecycle];
    if (this.removals !== undefined) {
      const remove = this.agent.use(lifecycle);
      this.removals.push(remove);
      return remove;
    }
    return () => {
      this.lifecycles = this.lifecycles.filter((other) => other !== lifecycle);
    };
  }

  /** Adds the lifecycles to the agent, at the positions of the earlier ones. Open runs keep the earlier ones. */
  install(before?: HeldUses): void {
    // Tool names must be unique, so the earlier tools are removed before the new tools are added.
    const places = before?.leave() ?? [];
    this.removals = this.lifecycles.map((lifecycle, index) => this.agent.use(lifecycle, places[index]));
    for (const remove of places.slice(this.lifecycles.length)) remove();
  }

  /**
   * Replaces each lifecycle in the agent by an empty one, so that its position stays for a new lifecycle. Returns
   * functions that remove the empty lifecycles.
   */
  private leave(): readonly (() => void)[] {
    this.isReplaced = true;
    return this.removals?.map((remove) => this.agent.use({ name: 'plugins' }, remove)) ?? [];
  }

  private tools(): readonly Tool[] {
    return this.lifecycles.flatMap(({ tools }) => (tools === undefined ? [] : toolsOf(tools as ToolSource)));
  }
}

async function contentOf({ status: { config }, parts }: AgentPluginSet) {
  const items = await Promise.all(
    parts.map(async ({ plugin: { version }, part: { name }, path, options }) => {
      return { name, content: JSON.stringify([version, path, await hashOf(path), options]) };
    }),
  );
  return { items, content: JSON.stringify([config && (await hashOf(config)), items]) };
}

async function hashOf(path: string): Promise<string> {
  return sha256Of(await readFile(path).catch(() => 'missing'));
}
