import { stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { describeError } from '../errors.js';
import { callable, fullText, object, timerMs, withMethods } from '../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../internal/options/validate.js';
import { workspaceRoots } from '../process/files/workspace.js';
import { pathOf } from './entry.js';
import { PluginConfigError } from './error.js';
import { callInTime } from './hooks/call.js';
import { resolveCalling } from './hooks/hook-manager.js';
import { defaultOf, type ImportModule, readExports } from './import-module.js';
import type { PluginConfig, PluginEntry } from './plugin.js';
import { authorizeImport, type PluginGate } from './trust.js';

/** Where the configuration comes from. */
export interface PluginConfigOptions {
  /** The file, by its path or a `file:` URL, or the configuration itself. Default: the file that the variable names, else the one that is found. */
  readonly config?: string | PluginConfig | readonly PluginEntry[] | undefined;
  /** Names the file `<appName>.plugins.ts` and the variable `<APP_NAME>_PLUGIN_CONFIG`; default `keelson`. */
  readonly appName?: string | undefined;
  /** Where the file is looked for, and what relative paths are relative to. Default: the working directory. */
  readonly workspaceDir?: string | undefined;
  /** Default: that of this process. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Judges a file that was found, and the plugins that it names. Without one such a file is not loaded. */
  readonly gate?: PluginGate | undefined;
  /** Imports modules in place of the runtime. */
  readonly importModule?: ImportModule | undefined;
  /** Time for the import of the file; default 30,000. */
  readonly timeoutMs?: number | undefined;
}

/** A configuration, and where it came from. */
export interface LoadedPluginConfig {
  readonly config: PluginConfig;
  /** The file; absent where the configuration was given as a value. */
  readonly path: string | undefined;
  /** What its entries are relative to. */
  readonly folder: string;
  /** Whether the host or the user named it. One that was found is not. */
  readonly isTrusted: boolean;
}

/** The rules of where a configuration comes from. */
export const configRules = {
  config: {
    expected: 'the path of a file, a configuration or an array of entries',
    accepts: (value) => typeof value === 'string' || (typeof value === 'object' && value !== null),
  },
  appName: {
    expected: 'letters, digits, `.`, `_` and `-`, with a letter or digit first',
    accepts: (value) => typeof value === 'string' && /^[A-Za-z0-9][\w.-]*$/.test(value),
  },
  workspaceDir: fullText,
  env: object,
  gate: withMethods('authorize'),
  importModule: callable,
  timeoutMs: timerMs,
} satisfies OptionTable<PluginConfigOptions>;

const ENDS = ['.ts', '.mts', '.js', '.mjs', '.cjs', '.json'];

/**
 * Loads a configuration: the one that is given, else that of the environment variable, else `<appName>.plugins.ts` (or
 * .mts, .js, .mjs, .cjs, .json) of the workspace. Gives nothing where there is none.
 *
 * Throws PluginConfigError where it cannot be used, and PluginUntrustedError where it was found and is not approved.
 *
 * @example
 * const loaded = await loadPluginConfig({ config: './my-app.plugins.ts' });
 * if (loaded) console.log((await loadPlugins(loaded)).failures);
 */
export async function loadPluginConfig(options: PluginConfigOptions = {}): Promise<LoadedPluginConfig | undefined> {
  validateOptions(options, configRules);
  return readPluginConfig(options);
}

/** The same for options that were checked. */
export async function readPluginConfig(options: PluginConfigOptions): Promise<LoadedPluginConfig | undefined> {
  const { config, appName = 'keelson', env = process.env, gate } = options;
  const workspaceDir = resolve(options.workspaceDir ?? '.');
  if (config !== undefined && typeof config !== 'string') {
    return { config: toConfig(config, 'in `config`'), path: undefined, folder: workspaceDir, isTrusted: true };
  }
  const named = config ?? (env[`${appName.replace(/[^A-Za-z0-9]/g, '_').toUpperCase()}_PLUGIN_CONFIG`] || undefined);
  const path = named === undefined ? await findFile(workspaceDir, appName) : pathOf({ path: named }, workspaceDir);
  if (path === undefined) return undefined;
  const isTrusted = named !== undefined;
  if (!isTrusted) await authorizeImport({ path, source: path }, { gate, workspaceDir });
  return { config: toConfig(await readConfig(path, options), path), path, folder: dirname(path), isTrusted };
}

async function findFile(folder: string, appName: string): Promise<string | undefined> {
  if (workspaceRoots(folder).length === 0) return undefined;
  for (const end of ENDS) {
    const path = join(folder, `${appName}.plugins${end}`);
    if ((await stat(path).catch(() => undefined)) !== undefined) return path;
  }
  return undefined;
}

async function readConfig(path: string, { importModule, timeoutMs }: PluginConfigOptions): Promise<unknown> {
  const calling = resolveCalling({ timeoutMs });
  try {
    if ((await stat(path)).isDirectory()) throw new PluginConfigError(path, 'it is a folder');
    const read = async () => defaultOf(await readExports(path, importModule));
    return await callInTime(`import of ${path}`, read, calling);
  } catch (error) {
    throw error instanceof PluginConfigError ? error : new PluginConfigError(path, describeError(error), error);
  }
}

function toConfig(value: unknown, path: string): PluginConfig {
  const plugins = Array.isArray(value) ? value : (value as Partial<PluginConfig> | null | undefined)?.plugins;
  if (!Array.isArray(plugins)) {
    throw new PluginConfigError(path, 'its default export is neither { plugins: [...] } nor a list of entries');
  }
  return Array.isArray(value) ? { plugins } : (value as PluginConfig);
}
