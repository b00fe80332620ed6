import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { isObject } from '../internal/json.js';
import type { Logger } from '../internal/logger.js';
import { boolean, callable, fullText, listOf, logger, object, oneOf, required } from '../internal/options/rules.js';
import { type OptionRule, type OptionTable, validateOptions } from '../internal/options/validate.js';
import type { McpServers } from '../mcp/mcp.js';
import { homeFolder } from '../process/files/home-folder.js';
import { absolutePath, appName } from '../process/files/path-rules.js';
import { workspaceRoots } from '../process/files/workspace.js';
import type { ShellHooks } from '../shell-hooks/loader.js';
import { approvalRules, refuseBesideGate, type TrustGateOptions } from '../trust/gate-options.js';
import type { LoaderOptions } from '../trust/loader-options.js';
import type { DiscoveryOptions } from './discovery.js';
import type { ExtensionPackage, ManifestFormat } from './extension.js';
import { FORMATS } from './formats/list.js';

/** Options of `manifests`. */
export interface ManifestOptions
  extends Pick<LoaderOptions, 'appName' | 'userDir' | 'approve' | 'gate' | 'env'>,
    Pick<TrustGateOptions, 'approveTimeoutMs' | 'allow'> {
  /** The workspace directory. Its extension packages lie in `<workspaceDir>/.<appName>/extensions`. */
  readonly workspaceDir: string;
  /**
   * If true, an extension package is enabled until the user disables it. Enabled extension packages still need an
   * approval. Default true.
   */
  readonly autoEnable?: boolean | undefined;
  /**
   * Manifest formats of other programs to read as well. If a directory has several manifests, the first format of this
   * list counts. A `manifest.json` comes before all of these formats. Default: none.
   */
  readonly compat?: readonly Exclude<ManifestFormat, 'native'>[] | undefined;
  /** The host configuration. The values of settings are at `extensions.<name>.<setting>`. */
  readonly config?: Readonly<Record<string, unknown>> | undefined;
  /** Directories of skills outside of extension packages, relative to the home directory and to the workspace. */
  readonly skillFolders?: readonly string[] | undefined;
  /** The name of the tool that gives skills to the model, or `false` for no tool. Default `skill`. */
  readonly skillTool?: string | false | undefined;
  /** If true, a symbolic link in the user's directory may lead to an extension package elsewhere. Default false. */
  readonly followLinks?: boolean | undefined;
  /**
   * Returns true if an extension package of the user needs an approval, as in the workspace. Use it for downloaded
   * packages. If the function throws, the approval is required.
   */
  readonly mustApprove?: ((extension: ExtensionPackage) => boolean) | undefined;
  /**
   * The `shellHooks()` loader for the hooks of extension packages, created with the same `gate`. It is loaded and
   * closed together with this loader. With `false`, no hook of an extension package is prompted for or registered.
   */
  readonly hooks?: ShellHooks | false | undefined;
  /**
   * The `mcpServers()` loader for the servers of extension packages, created with the same `gate`. It is loaded and
   * closed together with this loader.
   */
  readonly mcp?: McpServers | undefined;
  /** The logger. Sensitive settings are redacted before they reach the logger. Default: the agent's logger. */
  readonly logger?: Logger | undefined;
}

type Defaulted = 'appName' | 'userDir' | 'autoEnable' | 'compat' | 'env' | 'skillTool';

/** The options with defaults filled in. */
export interface ManifestSettings
  extends Omit<ManifestOptions, Defaulted>,
    Required<{ readonly [Name in Defaulted]: NonNullable<ManifestOptions[Name]> }> {
  /** Prefix of the environment variables that pass settings to programs. */
  readonly prefix: string;
  readonly extensionRoots: DiscoveryOptions['roots'];
  readonly skillRoots: DiscoveryOptions['roots'];
}

const folders: OptionRule = listOf({
  expected: 'a path without NUL characters',
  accepts: (value) => typeof value === 'string' && !value.includes('\0'),
});

/** The formats of other programs. */
export const COMPAT_FORMATS = FORMATS.flatMap(({ id }) => (id === 'native' ? [] : [id]));

/** Validation rules of the options that `loadRuntime` shares. */
export const sharedRules = {
  ...approvalRules,
  appName,
  userDir: absolutePath,
  compat: listOf(oneOf(...COMPAT_FORMATS)),
  logger,
} satisfies Partial<OptionTable<ManifestOptions>>;

const rules = {
  ...sharedRules,
  workspaceDir: required(fullText),
  gate: object,
  autoEnable: boolean,
  config: object,
  env: object,
  skillFolders: folders,
  skillTool: {
    expected: 'the name of a tool (1 to 64 letters, digits, `_` and `-`), or false',
    accepts: (value) => value === false || (typeof value === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(value)),
  },
  followLinks: boolean,
  mustApprove: callable,
  hooks: { expected: 'what `shellHooks` returns, or false', accepts: (value) => value === false || isObject(value) },
  mcp: object,
} satisfies OptionTable<ManifestOptions>;

/** Validates the options and fills in the defaults. */
export function resolveManifestOptions(options: ManifestOptions): ManifestSettings {
  validateOptions(options, rules);
  refuseBesideGate(options, ['approve', 'approveTimeoutMs', 'allow']);
  const { appName = 'keelson', autoEnable = true, compat = [], skillTool = 'skill', env = process.env } = options;
  const {
    userDir = join(home(), `.${appName}`),
    skillFolders = [`.${appName}/skills`, '.agents/skills', '.claude/skills'],
  } = options;
  const workspaceDir = resolve(options.workspaceDir);
  const workspaces = workspaceRoots(workspaceDir).slice(0, 1);
  return {
    ...options,
    workspaceDir,
    appName,
    userDir,
    autoEnable,
    compat,
    skillTool,
    env,
    prefix: appName.toUpperCase().replace(/[^A-Z0-9]/g, '_'),
    extensionRoots: [
      { scope: 'user', folder: join(userDir, 'extensions') },
      ...workspaces.map((root) => ({ scope: 'workspace', folder: join(root, `.${appName}`, 'extensions') }) as const),
    ],
    skillRoots: [
      ...skillFolders.map((folder) => ({ scope: 'user', folder: userSkills(folder, { appName, userDir }) }) as const),
      ...workspaces.flatMap((root) =>
        skillFolders.map((folder) => ({ scope: 'workspace', folder: resolve(root, folder) }) as const),
      ),
    ],
  };
}

/** The application's own skills lie in the user's directory. The other skill directories lie in the home directory. */
function userSkills(folder: string, { appName, userDir }: { appName: string; userDir: string }): string {
  return folder === `.${appName}/skills` ? join(userDir, 'skills') : resolve(home(), folder);
}

/** Returns the home directory. If no absolute one is known, returns the directory that the system names. */
function home(): string {
  return homeFolder() ?? homedir();
}
