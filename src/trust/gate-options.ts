import { join, resolve } from 'node:path';
import { OptionInvalidError } from '../errors.js';
import type { Clock } from '../internal/clock.js';
import { consoleLogger, type Logger } from '../internal/logger.js';
import {
  callable,
  clock,
  fullText,
  group,
  listOf,
  logger,
  required,
  text,
  timerMs,
  whole,
} from '../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../internal/options/validate.js';
import { variablePrefix } from '../process/environment.js';
import { homeFolder } from '../process/files/home-folder.js';
import { absolutePath, appName } from '../process/files/path-rules.js';
import { isInWorkspace } from '../process/files/workspace.js';
import type { Approver } from './decision.js';
import type { BindingLimits, TrustPlace } from './item.js';

/** Something of the user's own is not what it was when it last ran. It runs all the same. */
export interface UserHooksChange {
  readonly type: 'userHooksChanged';
  /** The file of definitions, where it is that which changed, or the item in it. */
  readonly source: string | undefined;
  readonly name: string;
  /** The file of definitions, or the item with all that is bound to it. */
  readonly what: 'file' | 'item';
}

/** How a gate judges. */
export interface TrustGateOptions {
  /**
   * The folder that is being worked in. Nothing in it is trusted by itself. The home folder, and a folder that holds it, is
   * no workspace: what a loader takes for the user's stays the user's in there.
   */
  readonly workspaceDir: string;
  /** Names the folder of the user's state, `~/.<appName>`. Default `keelson`. */
  readonly appName?: string | undefined;
  /** That folder, absolute. Default `~/.<appName>`. */
  readonly stateDir?: string | undefined;
  /** Asks the user. Without it nothing of the workspace is allowed that was not approved before. */
  readonly approve?: Approver | undefined;
  /** How long a question stands; then the answer is no. Default five minutes. */
  readonly approveTimeoutMs?: number | undefined;
  /** Digests that are allowed without a question, for where there is nobody to ask. */
  readonly allow?: readonly string[] | undefined;
  /** The text of the PATH variable in which programs are looked up. Default: that of this process. */
  readonly path?: string | undefined;
  /** How much may be bound to one item. Default 5,000 files and 64 MiB. */
  readonly limits?: BindingLimits | undefined;
  /** Told once of each file or item of the user's own that is not what it was when it last ran. */
  readonly onUserHooksChanged?: ((change: UserHooksChange) => void) | undefined;
  readonly logger?: Logger | undefined;
  readonly clock?: Clock | undefined;
}

/** The options with their defaults. */
export interface GateSettings extends Pick<TrustGateOptions, 'approve' | 'onUserHooksChanged' | 'clock'> {
  readonly place: TrustPlace;
  /** The name of the folder of configuration in the workspace. */
  readonly folder: string;
  readonly allow: ReadonlySet<string>;
  readonly approveTimeoutMs: number;
  readonly logger: Logger;
}

/** The rules of how approval is asked for, which other parts take too. */
export const approvalRules = {
  approve: callable,
  approveTimeoutMs: timerMs,
  allow: listOf({
    expected: 'a digest: `sha256:` and 64 hexadecimal digits',
    accepts: (digest) => typeof digest === 'string' && /^sha256:[0-9a-f]{64}$/.test(digest),
  }),
} satisfies Partial<OptionTable<TrustGateOptions>>;

/** The rule of the limits of one item. */
export const bindingLimits = group({
  files: required(whole(0)),
  bytes: required(whole(0)),
} satisfies OptionTable<BindingLimits>);

const rules = {
  ...approvalRules,
  workspaceDir: required(fullText),
  appName,
  stateDir: absolutePath,
  path: text,
  limits: bindingLimits,
  onUserHooksChanged: callable,
  logger,
  clock,
} satisfies OptionTable<TrustGateOptions>;

const LIMITS: BindingLimits = { files: 5_000, bytes: 64 * 1024 * 1024 };
const APPROVE_TIMEOUT_MS = 300_000;

/** Checks the options, and refuses a state folder that the workspace could write to. */
export function resolveGateOptions(options: TrustGateOptions): GateSettings {
  validateOptions(options, rules);
  const { appName = 'keelson', approve, approveTimeoutMs = APPROVE_TIMEOUT_MS, allow = [] } = options;
  return {
    ...{ approve, approveTimeoutMs, allow: new Set(allow), folder: `.${appName}`, clock: options.clock },
    onUserHooksChanged: options.onUserHooksChanged,
    logger: options.logger ?? consoleLogger,
    place: resolvePlace(options, appName),
  };
}

function resolvePlace(options: TrustGateOptions, appName: string): TrustPlace {
  const { workspaceDir, stateDir = defaultStateDir(appName), path = process.env.PATH, limits = LIMITS } = options;
  const workspace = resolve(workspaceDir);
  if (isInWorkspace(stateDir, workspace)) {
    throw new OptionInvalidError(
      'stateDir',
      `\`stateDir\` ${stateDir} lies in the workspace ${workspace}, which would judge itself: work in another folder (\`cwd\`), or keep it elsewhere (\`stateDir\`, or \`userDir\` of a runtime)`,
    );
  }
  return { workspaceDir: workspace, stateDir, path, limits, projectVariable: `${variablePrefix(appName)}_PROJECT_DIR` };
}

function defaultStateDir(appName: string): string {
  const home = homeFolder();
  if (home !== undefined) return join(home, `.${appName}`);
  throw new OptionInvalidError(
    'stateDir',
    '`stateDir` is missing, and the user has no home folder: set HOME, or give a `stateDir`',
  );
}
