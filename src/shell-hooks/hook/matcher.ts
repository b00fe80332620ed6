import { known } from '../../programs/cell.js';
import type { HookDialect } from '../../programs/hook-event.js';
import type { MatcherKind } from '../../programs/hook-table.js';
import { programOf } from '../../programs/list.js';
import { LinearPattern } from './linear-pattern.js';

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

/** Matches a list of names. Every other matcher is a regular expression. */
const LIST = /^[\w\- ,|]+$/;

/**
 * Compiles a matcher of a dialect, and returns a message if it is invalid. An absent or empty matcher and `*` match
 * everything. A matcher of letters, digits, `_`, `-`, spaces, `,` and `|` is a list of exact names. Every other matcher
 * is a regular expression.
 */
export function compileMatcher(given: string | undefined, dialect: HookDialect = 'native'): CompiledMatcher | string {
  const written = given?.trim() ?? '';
  if (written === '' || written === '*') return { matches: () => true, pattern: undefined, names: [] };
  const matcher = MATCHERS[kindOf(dialect)](written);
  if (LIST.test(matcher)) return exactly(matcher.split(/[,|]/));
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

function exactly(list: readonly string[]): CompiledMatcher {
  const wanted = new Set(list.map((name) => name.trim()).filter((name) => name !== ''));
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
