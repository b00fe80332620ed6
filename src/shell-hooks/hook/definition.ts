import { isTimerMs, MAX_TIMER_MS } from '../../internal/clock.js';
import { isObject, isTexts } from '../../internal/json.js';
import { nearestName } from '../../internal/options/nearest-name.js';
import { isVariableName } from '../../process/environment.js';
import type { TrustScope } from '../../trust/item.js';
import { HookInvalidError } from '../error.js';
import type { HookDialect } from './event.js';
import { HOOK_EVENTS, type HookEvent, isHookEvent } from './event.js';
import { compileMatcher, type Matcher } from './matcher.js';

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
export interface ShellHook extends HookRegistration {
  readonly id: string;
  /** Its number among the hooks of the same name, event and origin, from 1: an approval is of one of them. */
  readonly ordinal: number;
  readonly scope: TrustScope;
  readonly dialect: HookDialect;
  readonly matches: Matcher;
  /** Whether `matcher` is a regular expression. */
  readonly isPattern: boolean;
}

const KEYS: readonly string[] = [
  ...['event', 'name', 'command', 'args', 'shell', 'matcher', 'timeout', 'env', 'cwd', 'onFailure', 'exitCodes'],
  ...['files', 'reads', 'sensitive', 'scope', 'source', 'root', 'extension', 'dialect', 'dialectEvent', 'variables'],
];

/** Checks a hook. Throws a `HookInvalidError` that names everything that is wrong. */
export function resolveHook(hook: HookRegistration, id: string): ShellHook {
  const problems = isObject(hook) ? problemsOf(hook) : ['it is no object'];
  if (problems.length > 0) throw new HookInvalidError(nameOf(hook), problems);
  const dialect = hook.dialect ?? 'native';
  const compiled = compileMatcher(hook.matcher, dialect);
  if (typeof compiled === 'string') throw new HookInvalidError(hook.name, [compiled]);
  return { ...hook, ...compiled, id, ordinal: 1, dialect, scope: hook.scope ?? 'builtin' };
}

function nameOf(hook: unknown): string {
  const name = isObject(hook) ? hook.name : undefined;
  return typeof name === 'string' ? name : '(no name)';
}

function problemsOf(hook: HookRegistration): string[] {
  const unknown = Object.keys(hook).filter((key) => !KEYS.includes(key));
  return [
    ...unknown.map((key) => `\`${key}\` is no setting of a hook`),
    ...eventProblems(hook),
    ...nameProblems(hook),
    ...commandProblems(hook),
    ...settingProblems(hook),
  ];
}

function eventProblems({ event }: HookRegistration): string[] {
  if (isHookEvent(event)) return [];
  const near = typeof event === 'string' ? nearestName(event, HOOK_EVENTS) : undefined;
  return [
    `\`event\` is ${JSON.stringify(event)}, which is none${near === undefined ? '' : `; did you mean "${near}"?`}`,
  ];
}

function nameProblems({ name }: HookRegistration): string[] {
  const isName =
    typeof name === 'string' && name !== '' && name.length <= 128 && !/[\p{Cc}\p{Bidi_Control}]/u.test(name);
  return isName ? [] : ['`name` is no text of 1 to 128 characters without control characters'];
}

function commandProblems({ command, args, shell, dialect = 'native' }: HookRegistration): string[] {
  if (typeof command !== 'string' || command.trim() === '') return ['`command` is missing'];
  const problems: string[] = [];
  if (args !== undefined && !isTexts(args)) problems.push('`args` is no list of texts');
  if (shell !== undefined && typeof shell !== 'boolean' && shell !== 'bash') {
    problems.push('`shell` is neither a boolean nor "bash"');
  }
  if ([command, ...(isTexts(args) ? args : [])].some((text) => text.includes('\0'))) {
    problems.push('its command line holds a NUL character');
  }
  if (dialect === 'native' && /\s/.test(command) && args === undefined && !shell) {
    problems.push('`command` has spaces and there are no `args`: give `args` (`[]` for none), or `shell: true`');
  }
  return problems;
}

function settingProblems({ matcher, timeout, env, cwd, onFailure, ...rest }: HookRegistration): string[] {
  const problems: string[] = [];
  if (matcher !== undefined && typeof matcher !== 'string') problems.push('`matcher` is no text');
  if (timeout !== undefined && !isTimerMs(timeout)) problems.push(timeoutProblem('timeout', timeout));
  if (env !== undefined && !isEnvironment(env)) problems.push('`env` does not map names of variables to texts');
  if (cwd !== undefined && (!isTexts([cwd]) || cwd.includes('\0'))) problems.push('`cwd` is no text without a NUL');
  if (onFailure !== undefined && !['continue', 'block'].includes(onFailure)) {
    problems.push(`\`onFailure\` is ${JSON.stringify(onFailure)}; it is "continue" or "block"`);
  }
  if (rest.exitCodes !== undefined && typeof rest.exitCodes !== 'boolean') problems.push('`exitCodes` is no boolean');
  for (const key of ['files', 'reads', 'sensitive'] as const) {
    if (rest[key] !== undefined && !isTexts(rest[key])) problems.push(`\`${key}\` is no list of texts`);
    else if (rest[key]?.some((text) => text.includes('\0'))) problems.push(`\`${key}\` holds a NUL character`);
  }
  return problems;
}

/** What is wrong with a number of milliseconds. */
export function timeoutProblem(key: string, value: unknown): string {
  return `\`${key}\` is ${typeof value === 'number' ? value : JSON.stringify(value)}; it is a number of milliseconds from 1 to ${MAX_TIMER_MS}`;
}

function isEnvironment(value: unknown): boolean {
  return (
    isObject(value) &&
    Object.entries(value).every(
      ([name, text]) => isVariableName(name) && typeof text === 'string' && !text.includes('\0'),
    )
  );
}
