import { isObject } from '../../internal/json.js';
import { memberProblems, unknownName } from '../../internal/options/validate.js';
import { HOOK_EVENTS, isHookEvent, isToolEvent } from '../../programs/hook-event.js';
import { EXTENSION_PATH } from '../../trust/item.js';
import { type HookRegistration, registrationRules, type ShellHook } from './definition.js';
import { HookInvalidError } from './error.js';
import { compileMatcher } from './matcher.js';

/** Validates a hook and compiles its matcher. Throws a `HookInvalidError` that lists all problems. */
export function resolveHook(hook: HookRegistration, id: string): ShellHook {
  const problems = isObject(hook) ? problemsOf(hook) : ['it must be an object'];
  if (problems.length > 0) throw new HookInvalidError(nameOf(hook), problems);
  const line = isCommandLine(hook) ? splitCommandLine(hook.command) : undefined;
  const dialect = hook.dialect ?? 'native';
  const compiled = compileMatcher(hook.matcher, dialect);
  if (typeof compiled === 'string') throw new HookInvalidError(hook.name, [compiled]);
  // At other events, the matcher does not contain tool names.
  const names = isToolEvent(hook.event) ? compiled.names : [];
  return { ...hook, ...line, ...compiled, names, id, ordinal: 1, dialect, scope: hook.scope ?? 'builtin' };
}

/** Returns true for a hook whose `command` contains the arguments too. */
function isCommandLine({ command, args, shell }: HookRegistration): boolean {
  return typeof command === 'string' && /\s/.test(command.trim()) && args === undefined && !shell;
}

/** Matches a word without any character that a shell could interpret. */
const PLAIN = /^[\p{L}\p{M}\p{N}_@%+=:,./-]+$/u;

/**
 * Splits a command line of plain words at its blanks. Returns undefined if a word contains a quote, a variable, a glob
 * or any other shell syntax. `${extensionPath}` is allowed, because Keelson replaces it without a shell.
 */
function splitCommandLine(text: string): Pick<HookRegistration, 'command' | 'args'> | undefined {
  const [command = '', ...args] = text.trim().split(/[ \t]+/);
  const isPlain = [command, ...args].every((word) => PLAIN.test(word.replaceAll(EXTENSION_PATH, 'path')));
  // A first word such as `DEBUG=1` sets a variable in a shell.
  return isPlain && !command.includes('=') ? { command, args } : undefined;
}

function nameOf(hook: unknown): string {
  const name = isObject(hook) ? hook.name : undefined;
  return typeof name === 'string' ? name : '(no name)';
}

function problemsOf(hook: HookRegistration): string[] {
  const { event, command } = hook;
  const known = Object.keys(registrationRules);
  const unknown = Object.keys(hook).filter((key) => !known.includes(key));
  const isUnclear = isCommandLine(hook) && splitCommandLine(command) === undefined;
  return [
    ...unknown.map((key) => unknownName('setting', key, known)),
    ...(typeof event === 'string' && !isHookEvent(event) ? [unknownName('event', event, HOOK_EVENTS)] : []),
    ...memberProblems(hook, registrationRules),
    ...(isUnclear
      ? [
          `\`command\` must consist of plain words if \`args\` is missing, got ${JSON.stringify(command)}: set \`args\` (\`[]\` for none), or \`shell: true\` for a shell command`,
        ]
      : []),
  ];
}
