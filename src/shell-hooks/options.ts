import { resolve } from 'node:path';
import type { Clock } from '../internal/clock.js';
import { isObject } from '../internal/json.js';
import type { Logger } from '../internal/logger.js';
import {
  boolean,
  callable,
  clock,
  fullText,
  group,
  listOf,
  logger,
  object,
  oneOf,
  texts,
  timerMs,
  withMethods,
} from '../internal/options/rules.js';
import { type OptionTable, validateOption, validateOptions } from '../internal/options/validate.js';
import { absolutePath } from '../process/files/path-rules.js';
import type { Spawn } from '../process/process-group.js';
import type { Approver } from '../trust/decision.js';
import type { TrustGate } from '../trust/gate.js';
import { DIALECTS } from './dialects/list.js';
import { parseNativeHooks } from './dialects/native.js';
import { HookInvalidError } from './error.js';
import type { ToolNames } from './events/hook-event-context.js';
import type { HookDiagnostic } from './files/diagnostic.js';
import type { HookFile } from './files/hook-file.js';
import type { HookDefinition, HookRegistration } from './hook/definition.js';
import type { HookDialect, HookEvent } from './hook/event.js';
import type { HookRegistry } from './hook/registry.js';
import type { HookNotice } from './run/runner.js';

/** Hooks by event or as a list, as in a file, with a default for their time. */
export type HookMap = { readonly [Event in HookEvent]?: readonly Omit<HookDefinition, 'event'>[] | undefined } & {
  /** The time of each hook that has none of its own, in milliseconds. Default 30,000. */
  readonly timeout?: number | undefined;
  /** A list of hooks that name their `event`, beside the lists by event or in place of them. */
  readonly hooks?: readonly HookDefinition[] | undefined;
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
  /** Hooks of the host's own, which are trusted: a list, or an object with `timeout` and a list `hooks` or lists by event. */
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
  readonly onDiagnostic?: ((diagnostic: HookDiagnostic) => void) | undefined;
  /** Told what hooks say to the user. */
  readonly onNotice?: ((notice: HookNotice) => void) | undefined;
  /** What takes the place of the machine's own. The agent's logger takes over as it loads the hooks. */
  readonly machine?: HookMachineOptions | undefined;
}

const machineRules = { clock, spawn: callable, logger } satisfies OptionTable<HookMachineOptions>;

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
  discover: listOf(oneOf(...DIALECTS.map(({ id }) => id))),
  registry: withMethods('register'),
  approve: callable,
  gate: withMethods('authorize'),
  toolNames: object,
  sensitive: texts,
  redact: callable,
  inheritEnv: boolean,
  onDiagnostic: callable,
  onNotice: callable,
  machine: group(machineRules),
} satisfies OptionTable<ShellHooksOptions>;

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
  validateOptions(options, rules);
  const { workspaceDir = process.cwd(), appName = 'keelson', files = [], discover = [] } = options;
  const { hooks, timeout } = ownHooks(options.hooks);
  return {
    ...options,
    ...{ appName, discover, own: hooks, timeout },
    workspaceDir: resolve(workspaceDir),
    files: files.map((file) => (typeof file === 'string' ? { path: file } : file)),
  };
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
