import { isObject } from '../../internal/json.js';
import { anything, boolean, callable, listOf, oneOf, required, text, timerMs } from '../../internal/options/rules.js';
import type { OptionRule, OptionTable } from '../../internal/options/validate.js';
import { isVariableName } from '../../process/environment.js';
import type { TrustScope } from '../../trust/item.js';
import type { HookDialect, HookEvent } from './event.js';
import type { CompiledMatcher } from './matcher.js';

/** A program that runs at an event. */
export interface HookDefinition {
  readonly event: HookEvent;
  /** Stands in logs, errors and what the model reads. Not unique. */
  readonly name: string;
  /**
   * A program: an absolute path, one relative to the extension or else the workspace, or a bare name. No shell reads it,
   * unless `shell` is set.
   */
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Whether `command` is a text for `/bin/sh`; `bash`: for the `bash` in PATH, where there is one. */
  readonly shell?: boolean | 'bash' | undefined;
  /** Which tools it is for, at `before_tool` and `after_tool`: a name, a list such as `read|write`, or a pattern. */
  readonly matcher?: string | undefined;
  /** In milliseconds. Default: `hooks.timeout`. */
  readonly timeout?: number | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Relative to the extension or else the workspace, which is the default. */
  readonly cwd?: string | undefined;
  /** What its failure does: `continue` (default) passes it over, `block` cancels what it stands before. */
  readonly onFailure?: 'continue' | 'block' | undefined;
  /** Whether exit code 2 cancels, with the standard error as the reason, whatever stands on standard output. */
  readonly exitCodes?: boolean | undefined;
  /** Files of the workspace that it depends on, bound to its approval: paths, folders, patterns. */
  readonly files?: readonly string[] | undefined;
  /** Variables of this process's environment that it needs beyond the usual ones. */
  readonly reads?: readonly string[] | undefined;
  /** Names of sensitive fields that it gets unredacted. */
  readonly sensitive?: readonly string[] | undefined;
}

/** Where a hook comes from. Said by the code that loads it, never by the file that defines it. */
export interface HookOrigin {
  /** Default `builtin`: what the host registers itself is its own. */
  readonly scope?: TrustScope | undefined;
  /** The file that defines it, absolute. */
  readonly source?: string | undefined;
  /** The folder of the extension that it belongs to, absolute. */
  readonly root?: string | undefined;
  /** The name of that extension. */
  readonly extension?: string | undefined;
  /** Default `native`. */
  readonly dialect?: HookDialect | undefined;
  /** The name of the event in the hook's own dialect, where several become one event. */
  readonly dialectEvent?: string | undefined;
  /** Variables that are added to its environment at each run; their values are no part of what is approved. */
  readonly variables?: (() => Readonly<Record<string, string>>) | undefined;
}

/** A hook as it is registered. */
export type HookRegistration = HookDefinition & HookOrigin;

/** A hook that was checked. */
export interface ShellHook extends HookRegistration, CompiledMatcher {
  readonly id: string;
  /** Its number among the hooks of the same name, event and origin, from 1: an approval is of one of them. */
  readonly ordinal: number;
  readonly scope: TrustScope;
  readonly dialect: HookDialect;
}

const isPlainText = (value: unknown) => typeof value === 'string' && !value.includes('\0');
const plainText: OptionRule = { expected: 'a string without NUL characters', accepts: isPlainText };

/** The settings of a hook that a file may give. */
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
    expected: 'an object of strings without NUL characters, by the names of variables',
    accepts: (env) => isObject(env) && Object.keys(env).every(isVariableName) && Object.values(env).every(isPlainText),
  },
  cwd: plainText,
  onFailure: oneOf('continue', 'block'),
  exitCodes: boolean,
  files: listOf(plainText),
  reads: listOf(plainText),
  sensitive: listOf(plainText),
} satisfies OptionTable<HookDefinition>;

/** All settings of a hook. */
export const registrationRules = {
  ...definitionRules,
  ...{ scope: anything, source: plainText, root: plainText, extension: plainText, dialect: anything },
  ...{ dialectEvent: plainText, variables: callable },
} satisfies OptionTable<HookRegistration>;
