import { isObject } from '../internal/json.js';
import type { Logger } from '../internal/logger.js';
import { boolean, fullText, listOf, object, oneOf, sessionStore, withMethods } from '../internal/options/rules.js';
import { type OptionRule, type OptionTable, validateOptions } from '../internal/options/validate.js';
import type { ManifestOptions } from '../manifest/manifest.js';
import { COMPAT_FORMATS, sharedRules } from '../manifest/options.js';
import type { McpServersOptions } from '../mcp/mcp.js';
import type { PluginsOptions } from '../plugins/plugins.js';
import { dialectIds } from '../shell-hooks/dialects/dialect.js';
import type { HookDialect, ShellHooksOptions } from '../shell-hooks/shell-hooks.js';
import type { SessionStore } from '../state/session-store.js';
import { bindingLimits, refuseBesideGate, type TrustGateOptions } from '../trust/gate-options.js';
import type { LoaderOptions } from '../trust/loader-options.js';

/** Options of `loadRuntime`. Every option is optional. */
export interface RuntimeOptions
  extends Pick<LoaderOptions, 'appName' | 'userDir' | 'approve' | 'gate'>,
    Pick<TrustGateOptions, 'approveTimeoutMs' | 'allow' | 'limits'> {
  /**
   * The workspace directory. Default: the current working directory. Nothing in the workspace is trusted by default, so
   * `userDir` must lie outside it. The home directory and its parent directories do not count as a workspace. If `cwd`
   * is one of them, only the user's own items load.
   */
  readonly cwd?: string | undefined;
  /**
   * Other programs whose hook files are read from their usual paths. For `claude` and `gemini`, their extension
   * packages are read too. Default: none.
   */
  readonly compat?: readonly Exclude<HookDialect, 'native'>[] | undefined;
  /** The application's own configuration: `hooks` (with `timeout`), `mcpServers` and `extensions` (with settings). */
  readonly config?: RuntimeConfig | undefined;
  /** Further options for extension packages. */
  readonly manifests?: Omit<ManifestOptions, Shared | 'userDir' | 'config' | 'compat' | 'logger' | 'mcp'> | undefined;
  /** Further options for shell hooks. With `false` no shell hook is read, prompted for or run. */
  readonly hooks?: Omit<ShellHooksOptions, Shared | 'redact' | 'userDir'> | false | undefined;
  /** Further options for MCP servers. */
  readonly mcp?: Omit<McpServersOptions, Shared | 'servers'> | undefined;
  /** Further options for plugins. With `false` no plugin is loaded. */
  readonly plugins?: Omit<PluginsOptions, Shared> | false | undefined;
  /** The session store. Default: files in the `sessions` directory of the user's directory. */
  readonly store?: SessionStore | undefined;
  /** If true, SIGINT and SIGTERM close the runtime and its agents before the process ends. Default false. */
  readonly closeOnSignals?: boolean | undefined;
  /** Receives log messages of the runtime and of its loaders. Default: the console. */
  readonly logger?: Logger | undefined;
}

type Shared = 'workspaceDir' | 'appName' | 'gate' | 'approve' | 'approveTimeoutMs' | 'allow' | 'hooks';

/** The keys of an application's configuration that a runtime reads. */
export interface RuntimeConfig {
  readonly hooks?: ShellHooksOptions['hooks'];
  readonly mcpServers?: McpServersOptions['servers'];
  readonly extensions?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
  readonly [key: string]: unknown;
}

const COMPAT = dialectIds().filter((id) => id !== 'native');
const objectOrFalse: OptionRule = {
  expected: 'an object or false',
  accepts: (value) => value === false || isObject(value),
};

const rules = {
  ...sharedRules,
  compat: listOf(oneOf(...COMPAT)),
  limits: bindingLimits,
  gate: withMethods('authorize', 'verify'),
  cwd: fullText,
  config: object,
  manifests: object,
  hooks: objectOrFalse,
  mcp: object,
  plugins: objectOrFalse,
  store: sessionStore,
  closeOnSignals: boolean,
} satisfies OptionTable<RuntimeOptions>;

/** Throws an OptionInvalidError if an option is invalid. */
export function validateRuntimeOptions(options: RuntimeOptions): void {
  validateOptions(options, rules);
  refuseBesideGate(options, ['approve', 'approveTimeoutMs', 'allow', 'limits']);
}

/** Returns the programs of `compat` whose extension packages can be read. */
export function formatsIn(compat: NonNullable<RuntimeOptions['compat']>): NonNullable<ManifestOptions['compat']> {
  return COMPAT_FORMATS.filter((format) => compat.includes(format));
}

/** Returns the options that tell a runtime which hook files to read and which configured hooks to use. */
export function hookSourcesOf({ hooks, config, compat = [] }: RuntimeOptions): ShellHooksOptions {
  if (hooks === false) return {};
  const sources = { discover: ['native', ...compat], ...hooks } as const;
  return config?.hooks ? { ...sources, hooks: config.hooks } : sources;
}
