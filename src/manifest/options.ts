import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { OptionInvalidError } from '../errors.js';
import { isObject } from '../internal/json.js';
import type { Logger } from '../internal/logger.js';
import { boolean, callable, fullText, listOf, logger, object, oneOf, required } from '../internal/options/rules.js';
import { type OptionRule, type OptionTable, validateOptions } from '../internal/options/validate.js';
import type { McpServers } from '../mcp/mcp.js';
import { absolutePath, appName } from '../process/files/path-rules.js';
import { workspaceRoots } from '../process/files/workspace.js';
import type { ShellHooks } from '../shell-hooks/loader.js';
import type { TrustGate } from '../trust/gate.js';
import { approvalRules, type TrustGateOptions } from '../trust/gate-options.js';
import type { ExtensionPackage, ExtensionPackageScope, ManifestFormat } from './extension.js';
import { FORMATS } from './formats/list.js';

/** What `manifests` takes. */
export interface ManifestOptions extends Pick<TrustGateOptions, 'approve' | 'approveTimeoutMs' | 'allow'> {
  /** The folder that is worked in; its extensions lie in `<workspaceDir>/.<appName>/extensions`. */
  readonly workspaceDir: string;
  /** Names the folders of configuration, and the variables that settings are handed on in. Default `keelson`. */
  readonly appName?: string | undefined;
  /** The user's folder, absolute; their extensions lie in `<userDir>/extensions`. Default `~/.<appName>`. */
  readonly userDir?: string | undefined;
  /** A gate of your own, in place of `approve`. */
  readonly gate?: TrustGate | undefined;
  /** Whether an extension is on that nobody turned on or off. Default true. What is on still has to be approved. */
  readonly autoEnable?: boolean | undefined;
  /** Formats of other programs that are read as well. Default: none. */
  readonly compat?: readonly Exclude<ManifestFormat, 'native'>[] | undefined;
  /** The host's configuration. `extensions.<name>.<setting>` in it holds the values of settings. */
  readonly config?: Readonly<Record<string, unknown>> | undefined;
  /** Where the variables of settings come from. Default `process.env`. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Folders of skills that belong to no extension, relative to the home folder and to the workspace. */
  readonly skillFolders?: readonly string[] | undefined;
  /** The name of the tool that gives skills to the model; `false`: there is none. Default `skill`. */
  readonly skillTool?: string | false | undefined;
  /** Whether a link in the user's folder may lead to an extension elsewhere. Default false. */
  readonly followLinks?: boolean | undefined;
  /** Which of the user's extensions have to be approved as those of the workspace have, such as downloaded ones. */
  readonly mustApprove?: ((extension: ExtensionPackage) => boolean) | undefined;
  /**
   * Shell hooks to register hooks in, made with the same `gate`; loaded and closed along with this. `false`: no hook of an
   * extension is asked about or registered.
   */
  readonly hooks?: ShellHooks | false | undefined;
  /** Servers to add servers to, made with the same `gate`; loaded and closed along with this. */
  readonly mcp?: McpServers | undefined;
  /** Default: that of the agent. Nothing sensitive reaches it. */
  readonly logger?: Logger | undefined;
}

/** The options with their defaults. */
export interface ManifestSettings extends ManifestOptions {
  readonly appName: string;
  readonly userDir: string;
  readonly autoEnable: boolean;
  readonly compat: readonly Exclude<ManifestFormat, 'native'>[];
  readonly env: NodeJS.ProcessEnv;
  readonly skillTool: string | false;
  /** Begins the names of the variables that settings are handed on in. */
  readonly prefix: string;
  readonly extensionRoots: readonly Root[];
  readonly skillRoots: readonly Root[];
}

interface Root {
  readonly scope: ExtensionPackageScope;
  readonly folder: string;
}

const folders: OptionRule = listOf({
  expected: 'a path without NUL characters',
  accepts: (value) => typeof value === 'string' && !value.includes('\0'),
});

/** The rules of the options that a runtime takes too. */
export const sharedRules = {
  ...approvalRules,
  appName,
  userDir: absolutePath,
  compat: listOf(oneOf(...FORMATS.flatMap(({ id, isOptIn }) => (isOptIn ? [id] : [])))),
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

/** Checks the options and fills in the defaults. */
export function resolveManifestOptions(options: ManifestOptions): ManifestSettings {
  validateOptions(options, rules);
  const twice = (['approve', 'approveTimeoutMs', 'allow'] as const).find((name) => options[name] !== undefined);
  if (options.gate !== undefined && twice !== undefined) {
    throw new OptionInvalidError(twice, `\`${twice}\` must not be set beside \`gate\`, got both: set it on the gate`);
  }
  const { appName = 'keelson', autoEnable = true, compat = [], skillTool = 'skill', env = process.env } = options;
  const {
    userDir = join(homedir(), `.${appName}`),
    skillFolders = [`.${appName}/skills`, '.agents/skills', '.claude/skills'],
  } = options;
  const workspaceDir = resolve(options.workspaceDir);
  const workspaces = workspaceRoots(workspaceDir).slice(0, 1);
  return {
    ...options,
    ...{ workspaceDir, appName, userDir, autoEnable, compat, skillTool, env },
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

/** The folder of this application is where the user's folder is; those of the standard are in the home folder. */
function userSkills(folder: string, { appName, userDir }: { appName: string; userDir: string }): string {
  return folder === `.${appName}/skills` ? join(userDir, 'skills') : resolve(homedir(), folder);
}
