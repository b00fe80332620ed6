import { OptionInvalidError } from '../errors.js';
import { isObject } from '../internal/json.js';
import type { Logger } from '../internal/logger.js';
import { boolean, fullText, listOf, object, oneOf, sessionStore, withMethods } from '../internal/options/rules.js';
import { type OptionRule, type OptionTable, validateOptions } from '../internal/options/validate.js';
import { FORMATS } from '../manifest/formats/list.js';
import type { ManifestOptions } from '../manifest/manifest.js';
import { sharedRules } from '../manifest/options.js';
import type { McpServersOptions } from '../mcp/mcp.js';
import type { PluginsOptions } from '../plugins/plugins.js';
import { DIALECTS } from '../shell-hooks/dialects/list.js';
import type { HookDialect, ShellHooksOptions } from '../shell-hooks/shell-hooks.js';
import type { SessionStore } from '../state/session-store.js';
import type { Approver } from '../trust/decision.js';
import type { TrustGate } from '../trust/gate.js';
import { bindingLimits } from '../trust/gate-options.js';
import type { BindingLimits } from '../trust/item.js';

/** What `loadRuntime` takes. All of it is optional. */
export interface RuntimeOptions {
  /** Names the folders, files and variables of the application. Default `keelson`. */
  readonly appName?: string | undefined;
  /**
   * The folder that is worked in. Default: the current one. Nothing in it is trusted by itself, so the user's folder may
   * not lie in there. The home folder, and a folder that holds it, is no workspace: only the user's own items load there.
   */
  readonly cwd?: string | undefined;
  /** Asks the user about what comes from that folder. Without it nothing of it is used that was not approved before. */
  readonly approve?: Approver | undefined;
  /** How long a question stands, in milliseconds; then the answer is no. Default five minutes. */
  readonly approveTimeoutMs?: number | undefined;
  /** Digests that are allowed without a question, for where there is nobody to ask. */
  readonly allow?: readonly string[] | undefined;
  /** How much may be bound to one approval. Default 5,000 files and 64 MiB. */
  readonly limits?: BindingLimits | undefined;
  /** A gate of your own, in place of `approve`, `approveTimeoutMs`, `allow` and `limits`. */
  readonly gate?: TrustGate | undefined;
  /** The user's folder, absolute. Default `~/.<appName>`. */
  readonly userDir?: string | undefined;
  /**
   * Other programs whose hooks are read from their usual files, and whose extensions (`claude`, `gemini`) are read as they
   * are. Default: none.
   */
  readonly compat?: readonly Exclude<HookDialect, 'native'>[] | undefined;
  /** The application's own configuration: `hooks` (with `timeout`), `mcpServers`, and `extensions` with settings. */
  readonly config?: RuntimeConfig | undefined;
  /** More of each part; `false` leaves plugins or shell hooks out. Without shell hooks no hook is read, asked about or run. */
  readonly manifests?: Omit<ManifestOptions, Shared | 'userDir' | 'config' | 'compat' | 'logger' | 'mcp'> | undefined;
  readonly hooks?: Omit<ShellHooksOptions, Shared | 'redact' | 'userDir'> | false | undefined;
  readonly mcp?: Omit<McpServersOptions, Shared | 'servers'> | undefined;
  readonly plugins?: Omit<PluginsOptions, Shared> | false | undefined;
  /** Where sessions live. Default: files in `sessions` of the user's folder. */
  readonly store?: SessionStore | undefined;
  /** Whether SIGINT and SIGTERM close the runtime and its agents before they end the process. Default false. */
  readonly closeOnSignals?: boolean | undefined;
  readonly logger?: Logger | undefined;
}

/** What all parts of a runtime have in common. */
type Shared = 'workspaceDir' | 'appName' | 'gate' | 'approve' | 'approveTimeoutMs' | 'allow' | 'hooks';

/** The configuration of an application, as far as a runtime reads it. */
export interface RuntimeConfig {
  readonly hooks?: ShellHooksOptions['hooks'];
  readonly mcpServers?: McpServersOptions['servers'];
  readonly extensions?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
  readonly [key: string]: unknown;
}

const COMPAT = DIALECTS.map(({ id }) => id).filter((id) => id !== 'native');
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

/** Checks the options. Throws an `OptionInvalidError`. */
export function validateRuntimeOptions(options: RuntimeOptions): void {
  validateOptions(options, rules);
  const names = ['approve', 'approveTimeoutMs', 'allow', 'limits'] as const;
  const twice = options.gate && names.find((name) => options[name] !== undefined);
  if (twice !== undefined) {
    throw new OptionInvalidError(twice, `\`${twice}\` must not be set beside \`gate\`, got both: set it on the gate`);
  }
}

/** The formats of extensions among the programs. */
export function formatsIn(compat: NonNullable<RuntimeOptions['compat']>): NonNullable<ManifestOptions['compat']> {
  const formats = FORMATS.flatMap(({ id }) => (id === 'native' ? [] : [id]));
  return formats.filter((format) => compat.includes(format));
}

/** Where a runtime has its hooks from: the files of the programs and the configuration, or nowhere. */
export function hookSourcesOf({ hooks, config, compat = [] }: RuntimeOptions): ShellHooksOptions {
  if (hooks === false) return {};
  return { discover: ['native', ...compat], ...hooks, ...(config?.hooks && { hooks: config.hooks }) };
}
