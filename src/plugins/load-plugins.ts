import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeError, type KeelsonError } from '../errors.js';
import { problemsOfPlugin } from './check-plugin.js';
import { type HookManagerOptions, resolveCalling } from './hook-manager.js';
import { defaultOf, type ImportModule, type ModuleExports, readExports } from './import-module.js';
import { isOpencodeModule, opencodePlugins } from './opencode.js';
import type { OpencodeHost } from './opencode-context.js';
import type { Plugin, PluginEntry } from './plugin.js';
import { callInTime, logFailure, type PluginCalling } from './plugin-call.js';
import type { LoadedPluginConfig } from './plugin-config.js';
import { PluginLoadError, PluginUntrustedError } from './plugin-error.js';
import { partOf } from './plugin-part.js';
import { authorizeImport, type PluginGate } from './plugin-trust.js';

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

/**
 * Imports the plugins of a configuration one after another. One that cannot be used is refused whole, with an error that
 * names its file; the others load. Calls none of their hooks.
 */
export async function loadPlugins(
  loaded: LoadedPluginConfig,
  options: LoadPluginsOptions = {},
): Promise<LoadedPlugins> {
  const loading = new PluginLoading(loaded, options);
  for (const [at, entry] of loaded.config.plugins.entries()) await loading.add(entry, at);
  return loading;
}

const AGENT = 'the agent';

interface Candidate {
  readonly entry: PluginEntry;
  readonly path: string;
  readonly owners: Map<string, string>;
}

class PluginLoading implements LoadedPlugins {
  readonly plugins: LoadedPlugin[] = [];
  readonly failures: KeelsonError[] = [];
  private readonly calling: PluginCalling;
  private readonly workspaceDir: string;
  /** Who has a tool, by its name. */
  private owners: ReadonlyMap<string, string>;

  constructor(
    private readonly loaded: LoadedPluginConfig,
    private readonly options: LoadPluginsOptions,
  ) {
    this.calling = resolveCalling(options);
    this.workspaceDir = resolve(options.workspaceDir ?? '.');
    this.owners = new Map(options.taken?.map((name) => [name, AGENT]));
  }

  async add(entry: PluginEntry, at: number): Promise<void> {
    const { path: source = 'in `config`', folder } = this.loaded;
    const problems = problemsOfEntry(entry);
    if (problems.length > 0) {
      return this.refuse(new PluginLoadError(`number ${at + 1} of ${source}`, problems.join('; ')));
    }
    if (entry.enabled === false) return;
    const path = pathOf(entry.path, folder);
    try {
      await this.authorize(entry, path);
      const plugins = await callInTime(`import of ${path}`, () => this.load(entry, path), this.calling);
      const owners = new Map(this.owners);
      this.plugins.push(...plugins.map((plugin) => this.check(plugin, { entry, path, owners })));
      this.owners = owners;
    } catch (error) {
      const isOurs = error instanceof PluginLoadError || error instanceof PluginUntrustedError;
      this.refuse(isOurs ? error : new PluginLoadError(path, describeError(error), error));
    }
  }

  /** A person may take their time to answer. */
  private async authorize(entry: PluginEntry, path: string): Promise<void> {
    const { options, workspaceDir, loaded } = this;
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile() !== true) throw new PluginLoadError(path, 'there is no such file');
    if (loaded.isTrusted) return;
    const details = { options: entry.options, format: entry.format };
    const { gate } = options;
    await authorizeImport({ path, source: loaded.path ?? path, details }, { gate, workspaceDir });
  }

  private async load(entry: PluginEntry, path: string): Promise<Plugin[]> {
    const { options, workspaceDir, calling } = this;
    const exports = await readExports(path, options.importModule);
    const host: OpencodeHost = { workspaceDir, logger: calling.logger, client: options.opencodeClient };
    if (isOpencodeModule(exports, entry)) return opencodePlugins(exports, { path, host, options: entry.options });
    return [await pluginOf(exports, { path, options: entry.options })];
  }

  /** Throws where the plugin cannot stand beside those that are loaded. Adds its tools to the owners'. */
  private check(plugin: Plugin, { entry, path, owners }: Candidate): LoadedPlugin {
    const twin = this.plugins.find((other) => other.plugin.name === plugin.name);
    if (twin !== undefined) throw new PluginLoadError(path, `its name "${plugin.name}" is that of ${twin.path}`);
    const mayReplace = entry.replace === true && this.loaded.isTrusted;
    const replaced: string[] = [];
    for (const { name } of partOf(plugin).tools) {
      const owner = owners.get(name);
      if (mayReplace && owner === AGENT) replaced.push(name);
      else if (owner !== undefined)
        throw new PluginLoadError(path, this.conflict({ name, owner, plugin: plugin.name }));
      owners.set(name, plugin.name);
    }
    return { plugin, path, replaced };
  }

  private conflict({ name, owner, plugin }: { name: string; owner: string; plugin: string }): string {
    const other = this.plugins.find((it) => it.plugin.name === owner)?.path;
    return `its tool "${name}" of plugin "${plugin}" has the name of one of ${owner}${other ? ` (${other})` : ''}`;
  }

  private refuse(error: KeelsonError): void {
    logFailure(this.calling, error.message, error);
    this.failures.push(error);
  }
}

/** A path, or a `file:` URL where it is a valid one. */
function pathOf(path: string, folder: string): string {
  return path.startsWith('file:') && URL.canParse(path) && new URL(path).host === ''
    ? fileURLToPath(path)
    : resolve(folder, path);
}

const ENTRY_KEYS = ['path', 'options', 'enabled', 'replace', 'format'];

/** A misspelt `enabled: false` would load what somebody wanted off. */
function problemsOfEntry(entry: unknown): string[] {
  if (typeof entry !== 'object' || entry === null) return ['it is no object with a `path`'];
  const { path, options, enabled, replace, format } = entry as Partial<Record<keyof PluginEntry, unknown>>;
  const isFlag = (value: unknown) => value === undefined || typeof value === 'boolean';
  const problems = Object.keys(entry)
    .filter((key) => !ENTRY_KEYS.includes(key))
    .map((key) => `\`${key}\` is none of ${ENTRY_KEYS.join(', ')}`);
  if (typeof path !== 'string' || path === '') problems.push('`path` is no text');
  if (options !== undefined && (typeof options !== 'object' || options === null))
    problems.push('`options` is no object');
  if (!isFlag(enabled)) problems.push('`enabled` is neither true nor false');
  if (!isFlag(replace)) problems.push('`replace` is neither true nor false');
  if (![undefined, 'plugin', 'opencode'].includes(format as undefined)) problems.push('`format` is not known');
  return problems;
}

/** The plugin of a module, made by its factory where it has one. */
async function pluginOf(
  exports: ModuleExports,
  { path, options }: { path: string; options: Record<string, unknown> | undefined },
): Promise<Plugin> {
  const exported = defaultOf(exports);
  if (exported === undefined) throw new PluginLoadError(path, 'it has no default export');
  const value: unknown = await (typeof exported === 'function' ? exported(options) : exported);
  const problems = problemsOfPlugin(value);
  if (problems.length > 0) throw new PluginLoadError(path, problems.join('; '));
  return value as Plugin;
}
