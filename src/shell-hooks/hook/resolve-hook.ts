import { isTimerMs } from '../../internal/clock.js';
import { isObject, isTexts } from '../../internal/json.js';
import { nearestName } from '../../internal/options/nearest-name.js';
import { isVariableName } from '../../process/environment.js';
import { dialectOf } from '../dialects/list.js';
import { HookInvalidError } from '../error.js';
import { type HookRegistration, type ShellHook, timeoutProblem } from './definition.js';
import { HOOK_EVENTS, type HookDialect, isHookEvent } from './event.js';
import { compileMatcher } from './matcher.js';

const KEYS: readonly string[] = [
  ...['event', 'name', 'command', 'args', 'shell', 'matcher', 'timeout', 'env', 'cwd', 'onFailure', 'exitCodes'],
  ...['files', 'reads', 'sensitive', 'scope', 'source', 'root', 'extension', 'dialect', 'dialectEvent', 'variables'],
];

/** Checks a hook. Throws a `HookInvalidError` that names everything that is wrong. */
export function resolveHook(hook: HookRegistration, id: string): ShellHook {
  const problems = isObject(hook) ? problemsOf(hook) : ['it is no object'];
  if (problems.length > 0) throw new HookInvalidError(nameOf(hook), problems);
  const dialect = hook.dialect ?? 'native';
  const compiled = compileMatcher(nativeMatcher(hook.matcher, dialect));
  if (typeof compiled === 'string') throw new HookInvalidError(hook.name, [compiled]);
  return { ...hook, ...compiled, id, ordinal: 1, dialect, scope: hook.scope ?? 'builtin' };
}

/** The matcher in the language of this library. */
function nativeMatcher(given: string | undefined, dialect: HookDialect): string | undefined {
  const matcher = given?.trim() ?? '';
  const isEverything = matcher === '' || matcher === '*';
  return isEverything ? undefined : (dialectOf(dialect).matcher?.(matcher) ?? matcher);
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

function commandProblems({ command, args, shell }: HookRegistration): string[] {
  if (typeof command !== 'string' || command.trim() === '') return ['`command` is missing'];
  const problems: string[] = [];
  if (args !== undefined && !isTexts(args)) problems.push('`args` is no list of texts');
  if (shell !== undefined && typeof shell !== 'boolean' && shell !== 'bash') {
    problems.push('`shell` is neither a boolean nor "bash"');
  }
  if ([command, ...(isTexts(args) ? args : [])].some((text) => text.includes('\0'))) {
    problems.push('its command line holds a NUL character');
  }
  if (/\s/.test(command) && args === undefined && !shell) {
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

function isEnvironment(value: unknown): boolean {
  return (
    isObject(value) &&
    Object.entries(value).every(
      ([name, text]) => isVariableName(name) && typeof text === 'string' && !text.includes('\0'),
    )
  );
}
