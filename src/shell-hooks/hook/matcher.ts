/** A matcher as it was read. */
export interface CompiledMatcher {
  /** True if a hook is for something that has any of these names. */
  readonly matches: (names: readonly string[]) => boolean;
  /** Whether it is a regular expression. One of the workspace is tried only as it was approved: it may never end. */
  readonly isPattern: boolean;
  /** The names of a list; empty for everything and for a pattern. */
  readonly names: readonly string[];
}

/** Compiling cannot be stopped either: a pattern of a megabyte takes many seconds. */
const LONGEST = 10_000;

/** A list of names, not a pattern. */
const LIST = /^[\w\- ,|]+$/;

/**
 * Compiles a matcher in the language of this library, which a dialect translates its own into. Absent, empty or `*` is
 * everything; letters, digits, `_`, `-`, spaces, `,` and `|` are a list of exact names; everything else is a regular
 * expression. Returns the problem if it is invalid.
 */
export function compileMatcher(given: string | undefined): CompiledMatcher | string {
  const matcher = given?.trim() ?? '';
  if (matcher === '' || matcher === '*') return { matches: () => true, isPattern: false, names: [] };
  if (LIST.test(matcher)) return exactly(matcher.split(/[,|]/));
  if (matcher.length > LONGEST) return `\`matcher\` has more than ${LONGEST} characters`;
  try {
    const pattern = new RegExp(matcher);
    return { matches: (names) => names.some((name) => pattern.test(name)), isPattern: true, names: [] };
  } catch (error) {
    return `\`matcher\` is an invalid pattern: ${(error as Error).message}`;
  }
}

function exactly(list: readonly string[]): CompiledMatcher {
  const wanted = new Set(list.map((name) => name.trim()).filter((name) => name !== ''));
  return { matches: (names) => names.some((name) => wanted.has(name)), isPattern: false, names: [...wanted] };
}
