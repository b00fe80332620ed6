/** A compiled matcher. */
export interface CompiledMatcher {
  /** Returns true if any of the names matches. */
  readonly matches: (names: readonly string[]) => boolean;
  /**
   * True for a regular expression. A regular expression of the workspace may run forever, so it is evaluated only after
   * its approval.
   */
  readonly isPattern: boolean;
  /** The names in the matcher, if it is a list of names. Otherwise empty. */
  readonly names: readonly string[];
}

/** Compiling a very long regular expression takes many seconds and cannot be interrupted. */
const LONGEST = 10_000;

/** Matches a list of names. Every other matcher is a regular expression. */
const LIST = /^[\w\- ,|]+$/;

/**
 * Compiles a matcher of the native dialect, and returns a message if it is invalid. An absent or empty matcher and `*`
 * match everything. A matcher of letters, digits, `_`, `-`, spaces, `,` and `|` is a list of exact names. Every other
 * matcher is a regular expression.
 */
export function compileMatcher(given: string | undefined): CompiledMatcher | string {
  const matcher = given?.trim() ?? '';
  if (matcher === '' || matcher === '*') return { matches: () => true, isPattern: false, names: [] };
  if (LIST.test(matcher)) return exactly(matcher.split(/[,|]/));
  if (matcher.length > LONGEST) return `\`matcher\` must have at most ${LONGEST} characters, got ${matcher.length}`;
  try {
    const pattern = new RegExp(matcher);
    return { matches: (names) => names.some((name) => pattern.test(name)), isPattern: true, names: [] };
  } catch (error) {
    return `\`matcher\` must be a valid regular expression: ${(error as Error).message}`;
  }
}

function exactly(list: readonly string[]): CompiledMatcher {
  const wanted = new Set(list.map((name) => name.trim()).filter((name) => name !== ''));
  return { matches: (names) => names.some((name) => wanted.has(name)), isPattern: false, names: [...wanted] };
}
