import { resolve } from 'node:path';
import { describeError, type KeelsonError } from '../errors.js';
import { isObject } from '../internal/json.js';
import { logFailure } from '../internal/logger.js';
import { boolean, fullText, object, oneOf, required, texts } from '../internal/options/rules.js';
import { memberProblems, type OptionTable, unknownName, validateOptions } from '../internal/options/validate.js';
import { isInside } from '../process/files/location.js';
import { configRules, type LoadedPluginConfig, type PluginConfigOptions } from './config.js';
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
import { readExports } from './import-module.js';
import { locatePlugin, type PluginPlace } from './locate/locate-plugin.js';
import { pluginsOf } from './module.js';
import type { Plugin, PluginEntry } from './plugin.js';
import { authorizeImport } from './trust.js';

/** Options of `loadPlugins`. */
export interface LoadPluginsOptions
  extends HookManagerOptions,
    Pick<PluginConfigOptions, 'gate' | 'workspaceDir' | 'importModule'> {
  /** Tool names that are already in use. A plugin with such a tool is refused, unless its entry sets `replace`. */
  readonly taken?: readonly string[] | undefined;
  /** The `client` of plugins for opencode. Default: a client that supports only `app.log`. */
  readonly opencodeClient?: object | undefined;
}

/** Validation rules for the options of `loadPlugins`. */
export const loadRules = {
  ...callingRules,
  gate: configRules.gate,
  workspaceDir: configRules.workspaceDir,
  importModule: configRules.importModule,
  taken: texts,
  opencodeClient: object,
} satisfies OptionTable<LoadPluginsOptions>;

const entryRules = {
  path: required(fullText),
  options: object,
  enabled: boolean,
  required: boolean,
  replace: boolean,
  format: oneOf('plugin', 'opencode'),
  files: texts,
} satisfies OptionTable<PluginEntry>;
const ENTRY_KEYS = Object.keys(entryRules);

/** A loaded plugin. */
export interface LoadedPlugin {
  readonly plugin: Plugin;
  /** The path of the plugin's module. */
  readonly path: string;
  /** Names of the plugin's tools that replace tools of the agent. */
  readonly replaced: readonly string[];
}

/** The loaded plugins of a configuration, and the errors of the refused plugins. */
export interface LoadedPlugins {
  /** Loaded plugins, in the order of their entries. */
  readonly plugins: readonly LoadedPlugin[];
  /** One error for each refused plugin. */
  readonly failures: readonly KeelsonError[];
}

/** A loaded plugin with the data that the plugin loader needs. */
export interface LoadedPart extends LoadedPlugin, Member {
  readonly packageName: string | undefined;
  readonly options: PluginEntry['options'];
  readonly required: boolean;
}

/**
 * Imports the plugins of a configuration one after another. If a plugin fails to load, its error is added to `failures`
 * and the other plugins still load. Rejects if the failed plugin is `required`. Calls no hooks.
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

interface LoadPartsOptions extends LoadPluginsOptions {
  /** Aborts loading. `loadParts` then rejects with the signal's reason and shuts down the plugins loaded so far. */
  readonly signal?: AbortSignal | undefined;
}

/** Same as `loadPlugins`, with an abort signal and the data that the plugin loader needs. */
export async function loadParts(
  loaded: LoadedPluginConfig,
  options: LoadPartsOptions,
): Promise<{ readonly plugins: readonly LoadedPart[]; readonly failures: readonly KeelsonError[] }> {
  const loading = new PluginLoading(loaded, options);
  try {
    for (const [index, entry] of loaded.config.plugins.entries()) await loading.add(entry, index);
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

  async add(entry: PluginEntry, index: number): Promise<void> {
    const { path: source = '`config`', folder } = this.loaded;
    const problems = problemsOfEntry(entry);
    if (problems.length > 0) {
      return this.refuse(entry, new PluginLoadError(`entry ${index + 1} of ${source}`, problems.join('; ')));
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
      // A module that exceeded its time limit may still load later. Its plugins must then be shut down.
      else loading?.then((late) => this.end(late)).catch(() => {});
      this.calling.signal?.throwIfAborted();
      const isOurs = error instanceof PluginLoadError || error instanceof PluginUntrustedError;
      this.refuse(entry, isOurs ? error : new PluginLoadError(place, describeError(error), error));
    }
  }

  /**
   * Shuts down plugins that will not be initialized. Plugins with `onInit` are skipped, since they have started nothing
   * yet.
   */
  end(members: readonly Member[]): Promise<void> {
    const begun = members.filter(({ part }) => part.onInit === undefined);
    return new PluginHookManager(this.calling, begun).onShutdown();
  }

  private async authorize(entry: PluginEntry, { path, folder, packageName, isInstalled }: PluginPlace): Promise<void> {
    const { options, workspaceDir, loaded } = this;
    const { gate } = options;
    // A host that names a package means its own dependency. An untrusted workspace may contain a package of the same
    // name.
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
      // A tool of the plugin is invalid, so the created plugins are shut down.
      await this.end(plugins.map(({ name, hooks }) => ({ plugin: { name, hooks }, part: partOf({ name, hooks }) })));
      throw error;
    }
  }

  /** Throws a PluginLoadError if the plugin's name, or the name of one of its tools, is taken. */
  private check({ plugin, part }: Member, entry: PluginEntry, place: PluginPlace): LoadedPart {
    const { path, packageName } = place;
    const holder = this.plugins.find((other) => other.plugin.name === plugin.name || other.part.name === part.name);
    if (holder !== undefined)
      throw new PluginLoadError(
        place,
        `its name "${part.name}" is already used by ${holder.path}. Rename one of the two plugins`,
      );
    const taken = new Set(this.options.taken);
    const mayReplace = entry.replace === true && this.loaded.isTrusted;
    const names = part.tools.map(({ name }) => name);
    for (const [at, name] of names.entries()) {
      const other = this.plugins.find((it) => it.part.tools.some((tool) => tool.name === name));
      const own = names.indexOf(name) < at ? part.name : undefined;
      const owner = other ? `${other.part.name} (${other.path})` : (own ?? 'the agent');
      if (other === undefined && own === undefined && (mayReplace || !taken.has(name))) continue;
      throw new PluginLoadError(
        place,
        `the tool name "${name}" of plugin "${part.name}" is already used by ${owner}. Rename the tool`,
      );
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

/**
 * Lists the problems of an entry. Unknown keys are refused, because a misspelt `enabled: false` would load a plugin
 * that is meant to be off.
 */
function problemsOfEntry(entry: unknown): string[] {
  if (!isObject(entry)) return ['an entry must be an object with a `path`'];
  const unknown = Object.keys(entry).filter((key) => !ENTRY_KEYS.includes(key));
  return [...unknown.map((key) => unknownName('key', key, ENTRY_KEYS)), ...memberProblems(entry, entryRules)];
}
