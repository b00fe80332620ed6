import { isObject } from '../../internal/json.js';
import { memberProblems, unknownName } from '../../internal/options/validate.js';
import { known } from '../../programs/cell.js';
import { HOOK_EVENTS, type HookDialect, isHookEvent, isToolEvent } from '../../programs/hook-event.js';
import type { MatcherKind } from '../../programs/hook-table.js';
import { programOf } from '../../programs/list.js';
import { EXTENSION_PATH } from '../../trust/item.js';
import { compilePermissionRule } from '../rule/permission-rule.js';
import { type CompiledMatcher, type HookRegistration, registrationRules, type ShellHook } from './definition.js';
import { HookInvalidError } from './error.js';
import { LinearPattern } from './linear-pattern.js';

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
  const covers = hook.condition === undefined ? undefined : compilePermissionRule(hook.condition);
  return { ...hook, ...line, ...compiled, names, covers, id, ordinal: 1, dialect, scope: hook.scope ?? 'builtin' };
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

/** Matches a list of names. Every other matcher is a regular expression. */
const LIST = /^[\w\- ,|]+$/;

/**
 * Compiles a matcher of a dialect, and returns a message if it is invalid. An absent or empty matcher and `*` match
 * everything. A matcher of letters, digits, `_`, `-`, spaces, `,` and `|` is a list of exact names. Every other matcher
 * is a regular expression.
 */
function compileMatcher(given: string | undefined, dialect: HookDialect = 'native'): CompiledMatcher | string {
  const written = given?.trim() ?? '';
  if (written === '' || written === '*') return { matches: () => true, pattern: undefined, names: [] };
  const matcher = MATCHERS[kindOf(dialect)](written);
  if (LIST.test(matcher)) return exactly(matcher);
  try {
    const pattern = new LinearPattern(matcher);
    return { matches: (names) => names.some((name) => pattern.test(name)), pattern, names: [] };
  } catch (error) {
    return `\`matcher\` must be a valid regular expression: ${(error as Error).message}`;
  }
}

function kindOf(dialect: HookDialect): MatcherKind {
  const hooks = programOf(dialect)?.hooks;
  return hooks === undefined ? 'names-or-pattern' : known(hooks.matcher, 'pattern');
}

function exactly(list: string): CompiledMatcher | string {
  const wanted = new Set(list.split(/[,|]/).map((name) => name.trim()));
  wanted.delete('');
  if (wanted.size === 0) return `\`matcher\` must name a tool, or be "*" for every tool, got ${JSON.stringify(list)}`;
  return { matches: (names) => names.some((name) => wanted.has(name)), pattern: undefined, names: [...wanted] };
}

/** Translations of a matcher to the native dialect, whose patterns match any part of a name. */
const MATCHERS: Readonly<Record<MatcherKind, (given: string) => string>> = {
  'names-or-pattern': (given) => given,
  'words-or-pattern': (given) => (/^[\w|]+$/.test(given) ? given : `(?:${given})`),
  pattern: (given) => `(?:${given})`,
  'pattern-or-name': (given) => {
    try {
      new RegExp(given);
      return `(?:${given})`;
    } catch {
      return `^(?:${given.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')})$`;
    }
  },
  'whole-name': (given) => {
    if (given === '**') return '.*';
    return /^[\w|]+$/.test(given) ? given : `^(?:${given})$`;
  },
};
