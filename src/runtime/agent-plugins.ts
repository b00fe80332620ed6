import { createHash } from 'node:crypto';
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

const SHUTDOWN_MS = 5_000;

/** What reading the plugins of one agent again changed. */
export interface PluginsReload extends Changes {
  readonly problems: readonly string[];
}

/** The plugins of one agent, which can be read again. */
export class AgentPlugins implements LifecycleLoader {
  readonly name = 'plugins';
  readonly optional = true;
  private host: LoaderHost | undefined = undefined;
  private current: Generation | undefined = undefined;
  /** Plugins that were replaced, and are still needed by runs. */
  private readonly leaving = new Set<Generation>();

  constructor(
    private readonly options: PluginsOptions,
    private readonly onClose: () => void,
  ) {}

  async load(host: LoaderHost): Promise<void> {
    this.host = host;
    const generation = await this.read(host, this.options);
    generation.install(host, undefined);
    this.current = generation;
  }

  status(): unknown {
    return this.current?.status;
  }

  /** Ends the plugins that were replaced. The agent ends those that it has. */
  async close(): Promise<void> {
    this.host = undefined;
    this.onClose();
    await Promise.all([...this.leaving].map((generation) => generation.end()));
  }

  /**
   * Reads the plugins again if the file of one of them, or of the configuration, has changed, or if one of them failed.
   * Runs that are going on keep the plugins that they began with. Plugins that cannot be read leave the others in place.
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
      this.replace(host, current, next);
      return { ...changesBetween(current.items, next.items), problems: next.status.failures };
    } catch (error) {
      return { ...changesBetween(current.items, current.items), problems: [describeError(error)] };
    }
  }

  private replace(host: LoaderHost, before: Generation, next: Generation): void {
    next.install(host, before);
    this.current = next;
    this.leaving.add(before);
    void before.unused().then(async () => {
      await before.end();
      this.leaving.delete(before);
    });
  }

  private async read(host: LoaderHost, options: PluginsOptions, before?: Generation): Promise<Generation> {
    const lifecycles: AgentLifecycle<never>[] = [];
    const own = new Set(before?.toolNames);
    const use = (lifecycle: AgentLifecycle<never>) => {
      lifecycles.push(lifecycle);
      return () => {};
    };
    const tools = () => host.tools().filter(({ name }) => !own.has(name));
    const loader = plugins(options);
    await loader.load(Object.create(host, { use: { value: use }, tools: { value: tools } }) as LoaderHost);
    const status = loader.status?.() as PluginsStatus;
    return new Generation(lifecycles, status, { content: await contentOf(status), items: await itemsOf(status), host });
  }
}

interface Known {
  /** Of all files together. */
  readonly content: string;
  readonly items: readonly ComparedItem[];
  readonly host: LoaderHost;
}

/** The plugins of one reading. */
class Generation {
  readonly content: string;
  readonly items: readonly ComparedItem[];
  private removals: (() => void)[] = [];
  private readonly lifecycles: readonly AgentLifecycle<never>[];
  private entered = 0;
  private onUnused = () => {};
  private ending: Promise<void> | undefined = undefined;

  constructor(
    private readonly own: readonly AgentLifecycle<never>[],
    readonly status: PluginsStatus,
    private readonly known: Known,
  ) {
    this.content = known.content;
    this.items = known.items;
    // The first one counts a run before any other part can keep it waiting.
    const first: AgentLifecycle<never> = { name: 'plugins', priority: 100 };
    this.lifecycles = own.length === 0 ? [] : [first, ...own].map((lifecycle) => this.counted(lifecycle));
  }

  get toolNames(): readonly string[] {
    return this.own.flatMap(({ tools }) => (tools === undefined ? [] : toolsOf(tools).map(({ name }) => name)));
  }

  /** Adds the plugins to the agent, in the place of earlier ones. Runs that are going on keep the earlier ones. */
  install(host: LoaderHost, before: Generation | undefined): void {
    // The tools of the earlier ones have to be gone before one of the same name can come.
    const places = before?.removals.map((remove) => host.use({ name: 'plugins' }, remove)) ?? [];
    this.removals = this.lifecycles.map((lifecycle, at) => host.use(lifecycle, places[at]));
    for (const remove of places.slice(this.lifecycles.length)) remove();
  }

  /** Resolves when no run has the plugins any more. */
  unused(): Promise<void> {
    if (this.entered === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.onUnused = resolve;
    });
  }

  /** Shuts the plugins down, once, the last first. */
  end(): Promise<void> {
    this.ending ??= this.shutDown();
    return this.ending;
  }

  private async shutDown(): Promise<void> {
    const late = new TimeoutExceededError('onShutdown of a plugin', SHUTDOWN_MS);
    for (const { name, onShutdown } of this.own.toReversed()) {
      try {
        await withinTime(onShutdown?.(), late, systemClock);
      } catch (error) {
        logFailure(this.known.host, `onShutdown of plugin "${name}" failed, and is passed over.`, error);
      }
    }
  }

  /** Every lifecycle that entered a run gets exactly one of `afterAgent` and `onError`. */
  private counted(lifecycle: AgentLifecycle<never>): AgentLifecycle<never> {
    const leave = () => {
      this.entered -= 1;
      if (this.entered === 0) this.onUnused();
    };
    return {
      ...lifecycle,
      beforeAgent: (input, run) => {
        this.entered += 1;
        return lifecycle.beforeAgent?.(input, run);
      },
      afterAgent: async (text, run) => {
        try {
          return await lifecycle.afterAgent?.(text, run);
        } finally {
          leave();
        }
      },
      onError: async (error, run) => {
        try {
          await lifecycle.onError?.(error, run);
        } finally {
          leave();
        }
      },
    };
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
  const bytes = await readFile(path).catch(() => 'missing');
  return createHash('sha256').update(bytes).digest('base64');
}
