import { resolve } from 'node:path';
import { describeError, type KeelsonError } from '../errors.js';
import { logFailure } from '../internal/logger.js';
import { object, texts } from '../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../internal/options/validate.js';
import { isInside } from '../process/files/location.js';
import { configRules, type LoadedPluginConfig } from './config.js';
import { problemsOfEntry } from './entry.js';
import { PluginLoadError, PluginUntrustedError } from './error.js';
import { callInTime, type PluginCalling, withoutLimit } from './hooks/call.js';
import {
  callingRules,
  type HookManagerOptions,
  type Member,
  PluginHookManager,
  resolveCalling,
} from './hooks/hook-manager.js';
import { partOf } from './hooks/part.js';
import { type ImportModule, readExports } from './import-module.js';
import { locatePlugin, type PluginPlace } from './locate/locate-plugin.js';
import { pluginsOf } from './module.js';
import type { Plugin, PluginEntry } from './plugin.js';
import { authorizeImport, type PluginGate } from './trust.js';

/** How plugins are loaded. */
export interface LoadPluginsOptions extends HookManagerOptions {
  /** Judges the plugins of a configuration that was found in the workspace. */
  readonly gate?: PluginGate | undefined;
  /** Default: the working directory. */
  readonly workspaceDir?: string | undefined;
  /** Imports modules in place of the runtime. */
  readonly importModule?: ImportModule | undefined;
  /** Names of tools that are taken. A plugin with one of them is refused, unless its entry says `replace`. */
  readonly taken?: readonly string[] | undefined;
  /** What plugins for opencode find as their `client`, in place of one that only logs. */
  readonly opencodeClient?: object | undefined;
}

/** The rules of how plugins are loaded. */
export const loadRules = {
  ...callingRules,
  gate: configRules.gate,
  workspaceDir: configRules.workspaceDir,
  importModule: configRules.importModule,
  taken: texts,
  opencodeClient: object,
} satisfies OptionTable<LoadPluginsOptions>;

/** A plugin that was loaded. */
export interface LoadedPlugin {
  readonly plugin: Plugin;
  /** The module's file. */
  readonly path: string;
  /** Tools of its that take the place of others. */
  readonly replaced: readonly string[];
}

/** What came of the entries of a configuration. */
export interface LoadedPlugins {
  /** In the order of the entries. */
  readonly plugins: readonly LoadedPlugin[];
  /** One for each that was refused. */
  readonly failures: readonly KeelsonError[];
}

/** A plugin as the loader goes on with it. */
export interface LoadedPart extends LoadedPlugin, Member {
  readonly packageName: string | undefined;
  readonly options: PluginEntry['options'];
  readonly required: boolean;
}

/**
 * Imports the plugins of a configuration one after another. One that cannot be used is refused whole, with an error that
 * names its file; the others load. Rejects where it is `required`. Calls none of their hooks.
 *
 * @example
 * const loaded = await loadPluginConfig({ config: { plugins: [{ path: './guard.ts', required: true }] } });
 * const hooks = createHookManager();
 * if (loaded) for (const { plugin } of (await loadPlugins(loaded)).plugins) hooks.register(plugin);
 */
export async function loadPlugins(
  loaded: LoadedPluginConfig,
  options: LoadPluginsOptions = {},
): Promise<LoadedPlugins> {
  validateOptions(options, loadRules);
  return loadParts(loaded, options);
}

/** What the loader needs besides. */
interface LoadPartsOptions extends LoadPluginsOptions {
  /** Ends the loading: it rejects with the signal's reason, and what had begun is ended. */
  readonly signal?: AbortSignal | undefined;
}

/** As `loadPlugins`, with what the loader needs besides. */
export async function loadParts(
  loaded: LoadedPluginConfig,
  options: LoadPartsOptions,
): Promise<{ readonly plugins: readonly LoadedPart[]; readonly failures: readonly KeelsonError[] }> {
  const loading = new PluginLoading(loaded, options);
  try {
    for (const [at, entry] of loaded.config.plugins.entries()) await loading.add(entry, at);
    return loading;
  } catch (error) {
    await loading.end(loading.plugins);
    throw error;
  }
}

class PluginLoading {
  readonly plugins: LoadedPart[] = [];
  readonly failures: KeelsonError[] = [];
  private readonly calling: PluginCalling;
  private readonly workspaceDir: string;

  constructor(
    private readonly loaded: LoadedPluginConfig,
    private readonly options: LoadPartsOptions,
  ) {
    this.calling = { ...resolveCalling(options), signal: options.signal };
    this.workspaceDir = resolve(options.workspaceDir ?? '.');
  }

  async add(entry: PluginEntry, at: number): Promise<void> {
    const { path: source = '`config`', folder } = this.loaded;
    const problems = problemsOfEntry(entry);
    if (problems.length > 0) {
      return this.refuse(entry, new PluginLoadError(`number ${at + 1} of ${source}`, problems.join('; ')));
    }
    if (entry.enabled === false) return;
    this.calling.signal?.throwIfAborted();
    let made: readonly Member[] = [];
    let loading: Promise<readonly Member[]> | undefined;
    let place: PluginPlace = { path: entry.path };
    const before = this.plugins.length;
    try {
      place = await locatePlugin(entry, folder);
      await withoutLimit(() => this.authorize(entry, place), this.calling);
      const members = this.load(entry, place);
      loading = members;
      made = await callInTime(`import of ${place.path}`, () => members, this.calling);
      for (const member of made) this.plugins.push(this.check(member, entry, place));
    } catch (error) {
      this.plugins.length = before;
      if (made.length > 0) await this.end(made);
      // What was given up may be there all the same, later on.
      else loading?.then((late) => this.end(late)).catch(() => {});
      this.calling.signal?.throwIfAborted();
      const isOurs = error instanceof PluginLoadError || error instanceof PluginUntrustedError;
      this.refuse(entry, isOurs ? error : new PluginLoadError(place, describeError(error), error));
    }
  }

  /** Ends plugins that nobody will initialise, so far as they began with being made. */
  end(members: readonly Member[]): Promise<void> {
    const begun = members.filter(({ part }) => part.onInit === undefined);
    return new PluginHookManager(this.calling, begun).onShutdown();
  }

  private async authorize(entry: PluginEntry, { path, folder, packageName, isInstalled }: PluginPlace): Promise<void> {
    const { options, workspaceDir, loaded } = this;
    const { gate } = options;
    // A host that names a package means its own: one of the same name may lie in a workspace that is not the host's.
    const isForeign = isInstalled && loaded.path === undefined && gate !== undefined && isInside(path, workspaceDir);
    if (loaded.isTrusted && !isForeign) return;
    const details = { options: entry.options, format: entry.format, package: packageName };
    const files = (entry.files ?? []).map((file) => resolve(loaded.folder, file));
    const own = folder === workspaceDir ? undefined : folder;
    const source = loaded.path ?? path;
    await authorizeImport({ path, source, files, folder: own, details }, { gate, workspaceDir });
  }

  private async load(entry: PluginEntry, { path, packageName }: PluginPlace): Promise<Member[]> {
    const { options, workspaceDir, calling } = this;
    const exports = await readExports(path, options.importModule);
    const host = { workspaceDir, logger: calling.logger, client: options.opencodeClient };
    const owners = new Map(this.plugins.map((other) => [other.part.name, other.path]));
    const plugins = await pluginsOf(exports, { path, packageName, entry, host, owners });
    try {
      return plugins.map((plugin) => ({ plugin, part: partOf(plugin, packageName) }));
    } catch (error) {
      // One of its tools cannot be used.
      await this.end(plugins.map(({ name, hooks }) => ({ plugin: { name, hooks }, part: partOf({ name, hooks }) })));
      throw error;
    }
  }

  /** Throws if the plugin has the name of another, or a tool with a name that is taken. */
  private check({ plugin, part }: Member, entry: PluginEntry, place: PluginPlace): LoadedPart {
    const { path, packageName } = place;
    const twin = this.plugins.find((other) => other.plugin.name === plugin.name || other.part.name === part.name);
    if (twin !== undefined) throw new PluginLoadError(place, `its name "${part.name}" is that of ${twin.path}`);
    const taken = new Set(this.options.taken);
    const mayReplace = entry.replace === true && this.loaded.isTrusted;
    const names = part.tools.map(({ name }) => name);
    for (const [at, name] of names.entries()) {
      const other = this.plugins.find((it) => it.part.tools.some((tool) => tool.name === name));
      const own = names.indexOf(name) < at ? part.name : undefined;
      const owner = other ? `${other.part.name} (${other.path})` : (own ?? 'the agent');
      if (other === undefined && own === undefined && (mayReplace || !taken.has(name))) continue;
      throw new PluginLoadError(place, `its tool "${name}" of plugin "${part.name}" has the name of one of ${owner}`);
    }
    const replaced = names.filter((name) => taken.has(name));
    const { options, required = false } = entry;
    return { plugin, part, path, packageName, options, replaced, required };
  }

  private refuse(entry: PluginEntry, error: KeelsonError): void {
    if (entry?.required === true) throw error;
    logFailure(this.calling, error.message, error);
    this.failures.push(error);
  }
}
