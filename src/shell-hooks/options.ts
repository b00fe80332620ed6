import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { isObject } from '../internal/json.js';
import type { Logger } from '../internal/logger.js';
import {
  callable,
  clock,
  fullText,
  group,
  listOf,
  logger,
  mapOf,
  oneOf,
  required,
  texts,
  timerMs,
  whole,
  withMethods,
} from '../internal/options/rules.js';
import { memberProblems, type OptionTable, validateOption, validateOptions } from '../internal/options/validate.js';
import type { SystemOptions } from '../process/app-options.js';
import { type InheritedVariables, inheritedVariables } from '../process/environment.js';
import { homeFolder } from '../process/files/home-folder.js';
import { absolutePath } from '../process/files/path-rules.js';
import type { HookDialect, HookEvent } from '../programs/hook-event.js';
import type { LoaderOptions } from '../trust/loader-options.js';
import { dialectIds } from './dialects/dialect.js';
import type { HookFile } from './files/hook-file.js';
import { parseNativeHooks } from './files/native-file.js';
import type { HookDefinition, HookRegistration } from './hook/definition.js';
import type { HookDiagnostic, HookNotice } from './hook/diagnostic.js';
import { HookInvalidError } from './hook/error.js';
import type { ToolNames } from './hook/event-context.js';
import type { HookRegistry } from './hook/registry.js';

/** Hooks grouped by event, or as one array in `hooks`. A native hook file has the same structure. */
export type HookMap = { readonly [Event in HookEvent]?: readonly Omit<HookDefinition, 'event'>[] | undefined } & {
  /** Default time limit of a hook, in milliseconds. Default 30,000. */
  readonly timeout?: number | undefined;
  /** Hooks that name their `event`. Can be used together with the arrays by event. */
  readonly hooks?: readonly HookDefinition[] | undefined;
};

/** Replacements for the system clock, the functions `spawn` and `fetch`, and the logger. */
export interface HookMachineOptions extends SystemOptions {
  readonly logger?: Logger | undefined;
}

/** Options of `shellHooks`: the sources of hooks, and how hooks run. Hooks run in `workspaceDir`. */
export interface ShellHooksOptions
  extends Pick<LoaderOptions, 'workspaceDir' | 'appName' | 'userDir' | 'approve' | 'gate'> {
  /**
   * Hooks of the host, which need no approval. An array, or an object with `timeout` and arrays by event or in `hooks`.
   */
  readonly hooks?: readonly HookRegistration[] | HookMap | undefined;
  /** Hook files to load. If one cannot be read, loading fails with a `HookFileError`. */
  readonly files?: readonly (string | HookFile)[] | undefined;
  /**
   * Dialects whose hook files are read from their standard paths, in the home directory and the workspace. Default:
   * none.
   */
  readonly discover?: readonly HookDialect[] | undefined;
  /** A registry that other code may also change. Default: a new registry. */
  readonly registry?: HookRegistry | undefined;
  /**
   * Names of your tools and of their arguments in hook files of other programs. `{ claude: { run: 'Bash' } }` maps a
   * name, `{ claude: { save: { name: 'Write', args: { path: 'file_path' } } } }` also maps an argument. Hooks read and
   * change `tool_input` under the mapped names. `data.args` in the input of a hook keeps the names of your tool.
   */
  readonly toolNames?: ToolNames | undefined;
  /**
   * `claude`: native hooks and hooks of Claude Code get a session file in the format of Claude Code, as
   * `transcript_path`. An object also names the directory of the files, by default `sessions/transcripts` in `userDir`.
   * Default: no transcript.
   */
  readonly transcript?: 'claude' | TranscriptOptions | undefined;
  /** Names of fields that are redacted for each hook that does not declare them. Case and punctuation are ignored. */
  readonly sensitive?: readonly string[] | undefined;
  /**
   * Removes secrets from the standard output and standard error of hooks, before any other use. JSON must stay valid
   * JSON.
   */
  readonly redact?: ((text: string) => string) | undefined;
  /**
   * Environment variables that hooks of the host and the user inherit. `false` withholds the keys of model providers
   * and each other `*_API_KEY`. `true` withholds none. An object names exceptions to `false`. Default false.
   */
  readonly inheritEnv?: boolean | InheritedVariables | undefined;
  /**
   * Number of hook processes that may run at once for the agent. Further hooks wait, and the wait counts towards their
   * time limit. If several loaders of the agent set it, the smallest number counts. Default 16.
   */
  readonly maxProcesses?: number | undefined;
  /**
   * Number of turns that hooks of other programs may add to a run by refusing its answer, as Claude Code does at Stop.
   * After these turns, the answer is used. Default 8.
   */
  readonly maxContinuations?: number | undefined;
  /** Called with each diagnostic. */
  readonly onDiagnostic?: ((diagnostic: HookDiagnostic) => void) | undefined;
  /** Called with each message of a hook to the user. */
  readonly onNotice?: ((notice: HookNotice) => void) | undefined;
  /**
   * Replacements for the clock, the `spawn` function and the logger. The agent's logger replaces `logger` when it loads
   * the hooks.
   */
  readonly machine?: HookMachineOptions | undefined;
}

/**
 * The form and the directory of transcripts.
 *
 * @example
 * const transcript: ShellHooksOptions['transcript'] = { format: 'claude', folder: '/home/me/.my-agent/transcripts' };
 * const hooks = shellHooks({ discover: ['claude'], transcript, approve: terminalApprover() });
 */
interface TranscriptOptions {
  readonly format: 'claude';
  /** Absolute path of the directory. Only the user can read its files. */
  readonly folder?: string | undefined;
}

const transcriptRules = {
  format: required(oneOf('claude')),
  folder: absolutePath,
} satisfies OptionTable<TranscriptOptions>;

function isTranscriptOptions(value: unknown): boolean {
  if (!isObject(value) || Object.keys(value).some((key) => !Object.hasOwn(transcriptRules, key))) return false;
  return memberProblems(value, transcriptRules).length === 0;
}

const machineRules = { clock, spawn: callable, fetch: callable, logger } satisfies OptionTable<HookMachineOptions>;

const toolMapping = {
  expected:
    "the name of a tool, or an object with `name` and `args` such as { name: 'Write', args: { path: 'file_path' } }",
  accepts: isToolMapping,
};

/** Returns true for a name, or for a mapping in which no two arguments get the same name. */
function isToolMapping(value: unknown): boolean {
  if (!isObject(value)) return typeof value === 'string' && value !== '';
  const { name, args = {}, ...others } = value;
  if (typeof name !== 'string' || name === '' || !isObject(args) || Object.keys(others).length > 0) return false;
  const shown = Object.values(args);
  return shown.every((item) => typeof item === 'string' && item !== '') && new Set(shown).size === shown.length;
}

const rules = {
  workspaceDir: fullText,
  appName: fullText,
  userDir: absolutePath,
  hooks: {
    expected: 'an array of hooks, or an object with `timeout` and arrays of hooks by event or in `hooks`',
    accepts: (value) => typeof value === 'object' && value !== null,
  },
  files: listOf({
    expected: 'a path, or an object with a `path`',
    accepts: (file) => typeof (isObject(file) ? file.path : file) === 'string',
  }),
  discover: listOf({ ...oneOf(...dialectIds()), accepts: (id) => dialectIds().some((known) => known === id) }),
  registry: withMethods('register'),
  approve: callable,
  gate: withMethods('authorize'),
  toolNames: {
    ...group({}),
    get members() {
      return Object.fromEntries(dialectIds().map((id) => [id, mapOf(toolMapping)]));
    },
  },
  transcript: {
    expected: "'claude', or an object with `format: 'claude'` and an absolute path in `folder`",
    accepts: (value) => value === 'claude' || isTranscriptOptions(value),
  },
  sensitive: texts,
  redact: callable,
  inheritEnv: inheritedVariables,
  maxProcesses: whole(1),
  maxContinuations: whole(0),
  onDiagnostic: callable,
  onNotice: callable,
  machine: group(machineRules),
} satisfies OptionTable<ShellHooksOptions>;

/** Validated options with defaults filled in. */
export interface ShellHooksSettings extends ShellHooksOptions {
  readonly workspaceDir: string;
  readonly appName: string;
  readonly files: readonly HookFile[];
  readonly discover: readonly HookDialect[];
  readonly own: readonly HookRegistration[];
  readonly timeout: number | undefined;
  readonly toolNames: ToolNames;
  readonly sensitive: readonly string[];
  readonly inheritEnv: boolean | InheritedVariables;
  readonly maxContinuations: number;
  /** Directory of the transcripts; undefined without transcripts. */
  readonly transcriptFolder: string | undefined;
}

/** Validates the options and fills in the defaults. Throws an `OptionInvalidError` or a `HookInvalidError`. */
export function resolveShellHooksOptions(options: ShellHooksOptions): ShellHooksSettings {
  validateOptions(options, rules);
  const { workspaceDir = process.cwd(), appName = 'keelson', files = [], discover = [] } = options;
  const { hooks, timeout } = ownHooks(options.hooks);
  return {
    ...options,
    appName,
    discover,
    own: hooks,
    timeout,
    toolNames: options.toolNames ?? {},
    sensitive: options.sensitive ?? [],
    inheritEnv: options.inheritEnv ?? false,
    maxContinuations: options.maxContinuations ?? 8,
    workspaceDir: resolve(workspaceDir),
    transcriptFolder: transcriptFolder(options, appName),
    files: files.map((file) => (typeof file === 'string' ? { path: file } : file)),
  };
}

function transcriptFolder({ transcript, userDir }: ShellHooksOptions, appName: string): string | undefined {
  if (transcript === undefined) return undefined;
  const given = typeof transcript === 'object' ? transcript.folder : undefined;
  return given ?? join(userDir ?? join(homeFolder() ?? homedir(), `.${appName}`), 'sessions', 'transcripts');
}

function ownHooks(hooks: ShellHooksOptions['hooks'] = []): {
  hooks: readonly HookRegistration[];
  timeout?: number | undefined;
} {
  if (Array.isArray(hooks)) return { hooks };
  const { timeout } = hooks as HookMap;
  validateOption('hooks.timeout', timeout, timerMs);
  const report = ({ message, hook = '(no name)' }: HookDiagnostic) => {
    throw new HookInvalidError(hook, [message]);
  };
  return parseNativeHooks({ hooks }, { dialect: 'native', scope: 'builtin', report });
}
