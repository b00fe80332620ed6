import { isAbsolute, resolve } from 'node:path';
import { OptionInvalidError, refuse, refuseUnless, validateNames } from '../errors.js';
import { type Clock, isTimerMs } from '../internal/clock.js';
import { isObject, isTexts } from '../internal/json.js';
import type { Logger } from '../internal/logger.js';
import type { Spawn } from '../process/process-group.js';
import type { Approver } from '../trust/decision.js';
import type { TrustGate } from '../trust/gate.js';
import { DIALECTS } from './dialects/list.js';
import { parseNativeHooks } from './dialects/native.js';
import { HookInvalidError } from './error.js';
import type { ToolNames } from './events/hook-event-context.js';
import type { Report } from './files/diagnostic.js';
import type { HookFile } from './files/hook-file.js';
import { type HookDefinition, type HookRegistration, timeoutProblem } from './hook/definition.js';
import type { HookDialect, HookEvent } from './hook/event.js';
import type { HookRegistry } from './hook/registry.js';
import type { HookNotice } from './run/runner.js';

/** Hooks by event, as in a file. */
export type HookMap = { readonly [Event in HookEvent]?: readonly Omit<HookDefinition, 'event'>[] | undefined } & {
  /** The time of each hook that has none of its own, in milliseconds. Default 30,000. */
  readonly timeout?: number | undefined;
};

/** A clock, a way to start processes, and a place for messages. */
export interface HookMachineOptions {
  readonly clock?: Clock | undefined;
  readonly spawn?: Spawn | undefined;
  readonly logger?: Logger | undefined;
}

/** Where hooks come from, and how they are run. */
export interface ShellHooksOptions {
  /** The folder that is being worked in: hooks run there, and nothing in it is trusted by itself. Default: the current one. */
  readonly workspaceDir?: string | undefined;
  /** Names the folders of state and configuration, `~/.<appName>` and `.<appName>`. Default `keelson`. */
  readonly appName?: string | undefined;
  /** The user's folder, absolute: their `hooks.json`, and what they approved. Default `~/.<appName>`. */
  readonly userDir?: string | undefined;
  /** Hooks of the host's own, which are trusted: a list, or by event. */
  readonly hooks?: readonly HookRegistration[] | HookMap | undefined;
  /** Files of hooks. One that cannot be read fails the loader. */
  readonly files?: readonly (string | HookFile)[] | undefined;
  /** Whose files are looked for where they are kept by custom, at home and in the workspace. Default: nobody's. */
  readonly discover?: readonly HookDialect[] | undefined;
  /** A registry that others change too. Default: a new one. */
  readonly registry?: HookRegistry | undefined;
  /** Asks the user about hooks of the workspace. Without it none runs that was not approved before. */
  readonly approve?: Approver | undefined;
  /** A gate of your own, in place of `approve` and `appName`. */
  readonly gate?: TrustGate | undefined;
  /** How your tools are called in the files of other programs, such as `{ claude: { run_command: 'Bash' } }`. */
  readonly toolNames?: ToolNames | undefined;
  /** Names of fields that are redacted for all hooks that do not declare them, however they are spelt. */
  readonly sensitive?: readonly string[] | undefined;
  /** Takes what is secret out of whatever hooks write, before anybody reads it. JSON has to stay JSON. */
  readonly redact?: ((text: string) => string) | undefined;
  /** Whether hooks of the user's get the credentials of model providers too. Default false. */
  readonly inheritEnv?: boolean | undefined;
  /** Told of everything that somebody should know of. */
  readonly onDiagnostic?: Report | undefined;
  /** Told what hooks say to the user. */
  readonly onNotice?: ((notice: HookNotice) => void) | undefined;
  /** What takes the place of the machine's own. The agent's logger takes over as it loads the hooks. */
  readonly machine?: HookMachineOptions | undefined;
}

const KEYS: readonly string[] = [
  ...['workspaceDir', 'appName', 'userDir', 'hooks', 'files', 'discover', 'registry', 'approve', 'gate', 'toolNames'],
  ...['sensitive', 'redact', 'inheritEnv', 'onDiagnostic', 'onNotice', 'machine'],
];

/** Options with their defaults. */
export interface ShellHooksSettings extends ShellHooksOptions {
  readonly workspaceDir: string;
  readonly appName: string;
  readonly files: readonly HookFile[];
  readonly discover: readonly HookDialect[];
  readonly own: readonly HookRegistration[];
  readonly timeout: number | undefined;
}

/** Checks options and fills the defaults. */
export function resolveShellHooksOptions(options: ShellHooksOptions): ShellHooksSettings {
  validateKinds(options);
  const { workspaceDir = process.cwd(), appName = 'keelson', files = [], discover = [] } = options;
  const known = DIALECTS.map(({ id }) => id);
  const bad = discover.find((dialect) => !known.includes(dialect));
  if (bad !== undefined) throw new OptionInvalidError('discover', `"${bad}" is none of ${known.join(', ')}.`);
  const { hooks, timeout } = ownHooks(options.hooks);
  return {
    ...options,
    ...{ appName, discover, own: hooks, timeout },
    workspaceDir: resolve(workspaceDir),
    files: files.map((file) => (typeof file === 'string' ? { path: file } : file)),
  };
}

function validateKinds(options: ShellHooksOptions): void {
  validateNames(options, KEYS);
  const { workspaceDir = '.', appName = '.', discover = [], sensitive = [], toolNames = {}, machine = {} } = options;
  const { files = [], inheritEnv = false, gate, registry } = options;
  for (const [name, value] of Object.entries({ workspaceDir, appName })) {
    refuseUnless(typeof value === 'string' && value !== '', name, 'it is no text.');
  }
  const { userDir } = options;
  refuseUnless(userDir === undefined || isAbsolute(userDir), 'userDir', `"${userDir}" is not absolute.`);
  for (const [name, value] of Object.entries({ discover, sensitive })) {
    refuseUnless(isTexts(value), name, 'it is no list of texts.');
  }
  for (const [name, value] of Object.entries({ toolNames, machine })) {
    refuseUnless(isObject(value), name, 'it is no object.');
  }
  for (const name of ['approve', 'redact', 'onDiagnostic', 'onNotice'] as const) {
    refuseUnless(['undefined', 'function'].includes(typeof options[name]), name, 'it is no function.');
  }
  const isFile = (file: unknown) => typeof (isObject(file) ? file.path : file) === 'string';
  refuseUnless(Array.isArray(files) && files.every(isFile), 'files', 'it is no list of paths, or of objects with one.');
  refuseUnless(typeof inheritEnv === 'boolean', 'inheritEnv', 'it is no boolean.');
  refuseUnless(gate === undefined || typeof gate?.authorize === 'function', 'gate', 'make it with `createTrustGate`.');
  refuseUnless(
    registry === undefined || typeof registry?.register === 'function',
    'registry',
    'it is no `HookRegistry`.',
  );
}

function ownHooks(hooks: ShellHooksOptions['hooks'] = []): {
  hooks: readonly HookRegistration[];
  timeout?: number | undefined;
} {
  if (Array.isArray(hooks)) return { hooks };
  if (!isObject(hooks)) refuse('hooks', hooks, 'give a list of hooks, or a map from events to lists of them.');
  const { timeout } = hooks as HookMap;
  if (timeout !== undefined && !isTimerMs(timeout)) {
    throw new OptionInvalidError('hooks.timeout', `${timeoutProblem('timeout', timeout)}.`);
  }
  const report: Report = ({ message, hook = '(no name)' }) => {
    throw new HookInvalidError(hook, [message]);
  };
  return parseNativeHooks({ hooks }, { dialect: 'native', scope: 'builtin', report });
}
