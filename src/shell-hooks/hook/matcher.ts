import type { HookDialect } from './event.js';

/** Whether a hook is for something that goes by any of these names. */
export type Matcher = (names: readonly string[]) => boolean;

/** A matcher as it was read. */
export interface CompiledMatcher {
  readonly matches: Matcher;
  /** Whether it is a regular expression. One of the workspace is tried only as it was approved: it may never end. */
  readonly isPattern: boolean;
}

/** Compiling cannot be stopped either: a pattern of a megabyte takes many seconds. */
const LONGEST = 10_000;

/** A list of names, not a pattern. */
const LISTS: Readonly<Partial<Record<HookDialect, RegExp>>> = {
  native: /^[\w\- ,|]+$/,
  claude: /^[\w\- ,|]+$/,
  codex: /^[\w|]+$/,
};

/**
 * Compiles a matcher. Absent, empty or `*` is everything; letters, digits, `_`, `-`, spaces, `,` and `|` are a list of
 * exact names; everything else is a regular expression. With Codex it is one if it has a `-`, a space or a `,`, with
 * Gemini always. Returns the problem if it is invalid.
 */
export function compileMatcher(given: string | undefined, dialect: HookDialect): CompiledMatcher | string {
  const matcher = given?.trim() ?? '';
  if (matcher === '' || matcher === '*') return { matches: () => true, isPattern: false };
  if (LISTS[dialect]?.test(matcher)) return exactly(matcher.split(/[,|]/));
  if (matcher.length > LONGEST) return `\`matcher\` has more than ${LONGEST} characters`;
  try {
    const pattern = new RegExp(matcher);
    return { matches: (names) => names.some((name) => pattern.test(name)), isPattern: true };
  } catch (error) {
    // Gemini CLI reads an invalid pattern as a name.
    return dialect === 'gemini' ? exactly([matcher]) : `\`matcher\` is an invalid pattern: ${(error as Error).message}`;
  }
}

function exactly(list: readonly string[]): CompiledMatcher {
  const wanted = new Set(list.map((name) => name.trim()).filter((name) => name !== ''));
  return { matches: (names) => names.some((name) => wanted.has(name)), isPattern: false };
}
