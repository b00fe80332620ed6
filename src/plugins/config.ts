import { stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { describeError } from '../errors.js';
import { callable, fullText, object, timerMs, withMethods } from '../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../internal/options/validate.js';
import type { AppOptions } from '../process/app-options.js';
import { workspaceRoots } from '../process/files/workspace.js';
import { PluginConfigError } from './error.js';
import { callInTime } from './hooks/call.js';
import { resolveCalling } from './hooks/hook-manager.js';
import { defaultOf, type ImportModule, readExports } from './import-module.js';
import { pathOf } from './locate/locate-plugin.js';
import type { PluginConfig, PluginEntry } from './plugin.js';
import { authorizeImport, type PluginGate } from './trust.js';

/** Options of `loadPluginConfig`. */
export interface PluginConfigOptions extends Pick<AppOptions, 'workspaceDir' | 'appName' | 'env'> {
  /**
   * The configuration itself, or the path or `file:` URL of its file. Default: the file named by the environment
   * variable, else the file found in the workspace. The variable is `<APP_NAME>_PLUGIN_CONFIG`, and the file in the
   * workspace is `<appName>.plugins.ts`.
   */
  readonly config?: string | PluginConfig | readonly PluginEntry[] | undefined;
  /**
   * Approves a configuration file found in the workspace, and the plugins that it names. Without a gate such a file is
   * not loaded.
   */
  readonly gate?: PluginGate | undefined;
  /** Used instead of the runtime's `import()`. */
  readonly importModule?: ImportModule | undefined;
  /** Time limit for the import of the file, in milliseconds. Default 30,000. */
  readonly timeoutMs?: number | undefined;
}

/** A plugin configuration and its origin. */
export interface LoadedPluginConfig {
  readonly config: PluginConfig;
  /** The path of the configuration file. Undefined if the configuration was passed as a value. */
  readonly path: string | undefined;
  /** The base directory of relative paths in the entries. */
  readonly folder: string;
  /** True if the host or the user named the file. False if the file was found in the workspace. */
  readonly isTrusted: boolean;
}

/** Validation rules for the options of `loadPluginConfig`. */
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
 * Loads a plugin configuration: the `config` option, else the file named by the environment variable, else
 * `<appName>.plugins.ts` (or .mts, .js, .mjs, .cjs, .json) in the workspace. Resolves to undefined if none exists.
 *
 * Throws a PluginConfigError if the configuration is invalid, and a PluginUntrustedError if it was found in the
 * workspace and is not approved.
 *
 * @example
 * const loaded = await loadPluginConfig({ config: './my-app.plugins.ts' });
 * if (loaded) console.log((await loadPlugins(loaded)).failures);
 */
export async function loadPluginConfig(options: PluginConfigOptions = {}): Promise<LoadedPluginConfig | undefined> {
  validateOptions(options, configRules);
  return readPluginConfig(options);
}

/** Same as `loadPluginConfig`, without validating the options. */
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
    if ((await stat(path)).isDirectory())
      throw new PluginConfigError(path, 'it must be a file, got a directory. Name the configuration file in it');
    const read = async () => defaultOf(await readExports(path, importModule));
    return await callInTime(`import of ${path}`, read, calling);
  } catch (error) {
    throw error instanceof PluginConfigError ? error : new PluginConfigError(path, describeError(error), error);
  }
}

function toConfig(value: unknown, path: string): PluginConfig {
  const plugins = Array.isArray(value) ? value : (value as Partial<PluginConfig> | null | undefined)?.plugins;
  if (!Array.isArray(plugins)) {
    throw new PluginConfigError(path, 'its default export must be { plugins: [...] } or an array of entries');
  }
  return Array.isArray(value) ? { plugins } : (value as PluginConfig);
}
