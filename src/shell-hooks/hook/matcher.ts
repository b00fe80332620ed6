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
 * Compiles a matcher of the native dialect, and returns a message if it is invalid. An absent or empty matcher and `*`
 * match everything. A matcher of letters, digits, `_`, `-`, spaces, `,` and `|` is a list of exact names. Every other
 * matcher is a regular expression.
 */
export function compileMatcher(given: string | undefined): CompiledMatcher | string {
  const matcher = given?.trim() ?? '';
  if (matcher === '' || matcher === '*') return { matches: () => true, pattern: undefined, names: [] };
  if (LIST.test(matcher)) return exactly(matcher.split(/[,|]/));
  try {
    const pattern = new LinearPattern(matcher);
    return { matches: (names) => names.some((name) => pattern.test(name)), pattern, names: [] };
  } catch (error) {
    return `\`matcher\` must be a valid regular expression: ${(error as Error).message}`;
  }
}

function exactly(list: readonly string[]): CompiledMatcher {
  const wanted = new Set(list.map((name) => name.trim()).filter((name) => name !== ''));
  return { matches: (names) => names.some((name) => wanted.has(name)), pattern: undefined, names: [...wanted] };
}
