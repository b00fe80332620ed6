import { isObject } from '../../internal/json.js';
import { anything, boolean, callable, listOf, oneOf, required, text, timerMs } from '../../internal/options/rules.js';
import type { OptionRule, OptionTable } from '../../internal/options/validate.js';
import { isVariableName } from '../../process/environment.js';
import type { HookDialect, HookEvent } from '../../programs/hook-event.js';
import type { TrustScope } from '../../trust/item.js';
import { compilePermissionRule, type PermissionRule } from '../rule/permission-rule.js';
import type { LinearPattern } from './linear-pattern.js';

/** A program that runs at an event. */
export interface HookDefinition {
  readonly event: HookEvent;
  /** The name in logs, errors and messages to the model. It need not be unique. */
  readonly name: string;
  /**
   * The program: an absolute path, a path relative to the extension package or else the workspace, or a name to look up
   * in PATH. No shell reads it unless `shell` is set. Without `args`, plain words after the first are the arguments.
   */
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /**
   * True if `command` is a string for `/bin/sh`. The value `bash` selects the `bash` in PATH, or `/bin/sh` if PATH has
   * no `bash`.
   */
  readonly shell?: boolean | 'bash' | undefined;
  /**
   * Tools for which the hook runs at `before_tool` and `after_tool`: a name, a list such as `read|write`, or a regular
   * expression. Default: all tools.
   */
  readonly matcher?: string | undefined;
  /** Time limit in milliseconds. Default: `hooks.timeout`. */
  readonly timeout?: number | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /**
   * Working directory, relative to the extension package or else the workspace. Default: the workspace; for a native
   * hook of an extension package, the package.
   */
  readonly cwd?: string | undefined;
  /**
   * Effect of a failure of the hook. `continue` (default) ignores the failure, and `block` cancels the operation, such
   * as a tool call.
   */
  readonly onFailure?: 'continue' | 'block' | undefined;
  /** If true, exit code 2 cancels with standard error as the reason, and standard output is ignored. Default false. */
  readonly exitCodes?: boolean | undefined;
  /**
   * Workspace files that the hook depends on, as paths, directories or glob patterns. If one changes, the hook needs a
   * new approval.
   */
  readonly files?: readonly string[] | undefined;
  /** Environment variables of this process that the hook needs in addition to the default ones. */
  readonly reads?: readonly string[] | undefined;
  /** Names of sensitive fields that the hook gets unredacted. */
  readonly sensitive?: readonly string[] | undefined;
}

/** A server that gets each event as a POST request, in place of a program. */
export interface HttpHandler {
  /** Headers by name. `$NAME` and `${NAME}` in a value stand for one of `variables`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Names of the environment variables that headers may use. */
  readonly variables: readonly string[];
}

/** Origin of a hook. Set by the code that loads the hook, never by the hook file. */
export interface HookOrigin {
  /** Default `builtin`: a hook that the host registers needs no approval. */
  readonly scope?: TrustScope | undefined;
  /** Absolute path of the file that defines the hook. */
  readonly source?: string | undefined;
  /** Absolute path of the directory of the extension package. */
  readonly root?: string | undefined;
  /** Name of the extension package. */
  readonly extension?: string | undefined;
  /** Default `native`. */
  readonly dialect?: HookDialect | undefined;
  /** Name of the event in the hook's dialect. Needed if several names in the dialect map to one event. */
  readonly dialectEvent?: string | undefined;
  /** A permission rule of Claude Code, such as `Bash(git push *)`. The hook runs only for tool calls that match. */
  readonly condition?: string | undefined;
  /** If true, the agent does not wait for the hook, and its output decides nothing. */
  readonly background?: boolean | undefined;
  /** Set if `command` is the URL of a server. */
  readonly http?: HttpHandler | undefined;
  /** Returns environment variables that are added at each run. An approval does not cover their values. */
  readonly variables?: (() => Readonly<Record<string, string>>) | undefined;
  /**
   * Removes secrets from the standard output and standard error of the hook, before any other use. JSON must stay valid
   * JSON.
   */
  readonly redact?: ((text: string) => string) | undefined;
}

/** A hook to register: its definition and its origin. */
export type HookRegistration = HookDefinition & HookOrigin;

/** A compiled matcher. */
export interface CompiledMatcher {
  /** Returns true if any of the names matches. */
  readonly matches: (names: readonly string[]) => boolean;
  /**
   * The regular expression, if the matcher is one. A pattern of the workspace applies only after its approval.
   *
   * @internal
   */
  readonly pattern: LinearPattern | undefined;
  /** The names in the matcher, if it is a list of names. Otherwise empty. */
  readonly names: readonly string[];
}

/** A validated hook. */
export interface ShellHook extends HookRegistration, CompiledMatcher {
  readonly id: string;
  /**
   * Number among the hooks with the same name, event and origin, counted from 1. Each number is approved separately.
   */
  readonly ordinal: number;
  readonly scope: TrustScope;
  readonly dialect: HookDialect;
  /**
   * The compiled `condition`. Undefined without one.
   *
   * @internal
   */
  readonly covers: PermissionRule | undefined;
}

const isPlainText = (value: unknown) => typeof value === 'string' && !value.includes('\0');
const plainText: OptionRule = { expected: 'a string without NUL characters', accepts: isPlainText };

/** Rules for the hook settings that a file may contain. */
export const definitionRules = {
  event: required(text),
  name: required({
    expected: 'a string of 1 to 128 characters without control characters',
    accepts: (name) => typeof name === 'string' && /^[^\p{Cc}\p{Bidi_Control}]{1,128}$/u.test(name),
  }),
  command: required({
    expected: 'a non-empty string without NUL characters',
    accepts: (command) => isPlainText(command) && String(command).trim() !== '',
  }),
  args: listOf(plainText),
  shell: { expected: "a boolean or 'bash'", accepts: (shell) => typeof shell === 'boolean' || shell === 'bash' },
  matcher: plainText,
  timeout: timerMs,
  env: {
    expected: 'an object of variable names and string values without NUL characters',
    accepts: (env) => isObject(env) && Object.keys(env).every(isVariableName) && Object.values(env).every(isPlainText),
  },
  cwd: plainText,
  onFailure: oneOf('continue', 'block'),
  exitCodes: boolean,
  files: listOf(plainText),
  reads: listOf(plainText),
  sensitive: listOf(plainText),
} satisfies OptionTable<HookDefinition>;

/** Rules for all settings of a hook, including its origin. */
export const registrationRules = {
  ...definitionRules,
  scope: anything,
  source: plainText,
  root: plainText,
  extension: plainText,
  dialect: anything,
  dialectEvent: plainText,
  variables: callable,
  redact: callable,
  condition: {
    expected: 'a permission rule such as "Bash(git push *)"',
    accepts: (rule) => typeof rule === 'string' && compilePermissionRule(rule) !== undefined,
  },
  background: boolean,
  http: { expected: 'an object with `headers` and `variables`', accepts: isObject },
} satisfies OptionTable<HookRegistration>;
