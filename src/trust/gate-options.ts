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
import { realLocation } from '../process/files/location.js';
import { absolutePath, appName } from '../process/files/path-rules.js';
import { isInWorkspace, workspaceRoots } from '../process/files/workspace.js';
import type { Approver } from './decision.js';
import type { BindingLimits, TrustPlace } from './item.js';

/** Event: one of the user's own items has changed since its last run. It still runs. */
export interface UserHooksChange {
  readonly type: 'userHooksChanged';
  /** The file that changed, or that defines the changed item. */
  readonly source: string | undefined;
  readonly name: string;
  /** `file`: the definition file changed. `item`: the item or one of its files changed. */
  readonly what: 'file' | 'item';
}

/** Options of a trust gate. */
export interface TrustGateOptions {
  /**
   * The workspace directory. Items in it need an approval. The home directory and its parent directories are not
   * treated as a workspace: the user's items in them keep the scope `user`.
   */
  readonly workspaceDir: string;
  /** The name of the application. The state directory of the user is `~/.<appName>`. Default `keelson`. */
  readonly appName?: string | undefined;
  /** The absolute path of the state directory. Default `~/.<appName>`. */
  readonly stateDir?: string | undefined;
  /** Asks the user. Without an approver, items from the workspace are allowed only if they were approved before. */
  readonly approve?: Approver | undefined;
  /**
   * Time limit for an answer in milliseconds. Without an answer in this time, the item is denied. Default five minutes.
   */
  readonly approveTimeoutMs?: number | undefined;
  /**
   * Digests that are allowed without asking, for example in CI. Without this list and `approve`, an item that was never
   * approved is denied unread, and its decision has no digest. With `[]`, decisions have a digest.
   */
  readonly allow?: readonly string[] | undefined;
  /** The PATH value for finding programs. Default: the PATH value of this process. */
  readonly path?: string | undefined;
  /** Limits for the files of one item. Default 5,000 files and 64 MiB. */
  readonly limits?: BindingLimits | undefined;
  /** Called once for each of the user's own files or items that has changed since its last run. */
  readonly onUserHooksChanged?: ((change: UserHooksChange) => void) | undefined;
  readonly logger?: Logger | undefined;
  readonly clock?: Clock | undefined;
}

/** The options with defaults applied. */
export interface GateSettings extends Pick<TrustGateOptions, 'approve' | 'onUserHooksChanged' | 'clock'> {
  readonly place: TrustPlace;
  /** The name of the configuration directory in the workspace. */
  readonly folder: string;
  /**
   * Undefined if the host set no list. If the host set neither a list nor `approve`, the gate does not read unapproved
   * items.
   */
  readonly allow: ReadonlySet<string> | undefined;
  readonly approveTimeoutMs: number;
  readonly logger: Logger;
}

/** The rules of the approval options. Loaders with the same options share them. */
export const approvalRules = {
  approve: callable,
  approveTimeoutMs: timerMs,
  allow: listOf({
    expected: 'a digest: `sha256:` and 64 hexadecimal digits',
    accepts: (digest) => typeof digest === 'string' && /^sha256:[0-9a-f]{64}$/.test(digest),
  }),
} satisfies Partial<OptionTable<TrustGateOptions>>;

/** Checks the option `limits`: the largest number of files and of bytes that one item may have. */
export const bindingLimits = group({
  files: required(whole(0)),
  bytes: required(whole(0)),
} satisfies OptionTable<BindingLimits>);

/** Throws an OptionInvalidError if `gate` is set together with an option that configures a new gate. */
export function refuseBesideGate<Options extends { readonly gate?: unknown }>(
  options: Options,
  names: readonly (keyof Options & string)[],
): void {
  const conflicting = names.find((name) => options[name] !== undefined);
  if (options.gate === undefined || conflicting === undefined) return;
  throw new OptionInvalidError(
    conflicting,
    `\`${conflicting}\` must not be set together with \`gate\`, got both: set it on the gate`,
  );
}

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

/** Validates the options. Throws an OptionInvalidError if the state directory lies in the workspace. */
export function resolveGateOptions(options: TrustGateOptions): GateSettings {
  validateOptions(options, rules);
  const { appName = 'keelson', approve, approveTimeoutMs = APPROVE_TIMEOUT_MS, allow } = options;
  return {
    approve,
    approveTimeoutMs,
    allow: allow && new Set(allow),
    folder: `.${appName}`,
    clock: options.clock,
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
      `\`stateDir\` must not lie in the workspace ${workspace}, got ${stateDir}: use another \`cwd\`, or another \`stateDir\` (\`userDir\` of a runtime)`,
    );
  }
  return {
    workspaceDir: workspace,
    workspace: realLocation(workspace),
    roots: workspaceRoots(workspace),
    stateDir,
    path,
    limits,
    projectVariable: `${variablePrefix(appName)}_PROJECT_DIR`,
  };
}

function defaultStateDir(appName: string): string {
  const home = homeFolder();
  if (home !== undefined) return join(home, `.${appName}`);
  throw new OptionInvalidError(
    'stateDir',
    '`stateDir` must be a directory path if the user has no home directory, got undefined: set HOME, or pass `stateDir`',
  );
}
