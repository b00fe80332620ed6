import { createContext, Script } from 'node:vm';
import type { HookDialect } from './event.js';

/** Whether a hook is for something that goes by any of these names. */
export type Matcher = (names: readonly string[]) => boolean;

const EVERYTHING: Matcher = () => true;
const TEST = new Script('pattern.test(name)');
/** A pattern that takes longer has run away; the second time counts, since it may have been the machine that was busy. */
const PATTERN_MS = [100, 500] as const;
/** How many of workspaces may run away before each other one has one short time: a file can hold a thousand. */
const MANY_RUNAWAYS = 3;
const SHORT_MS = [10] as const;
let runaways = 0;
const KEPT_ANSWERS = 500;
/** A pattern is compiled as it is first tried, and nothing stops that: one of a megabyte takes many seconds. */
const LONGEST = 10_000;

/** What is a list of names, and no pattern. */
const LISTS: Readonly<Partial<Record<HookDialect, RegExp>>> = {
  native: /^[\w\- ,|]+$/,
  claude: /^[\w\- ,|]+$/,
  codex: /^[\w|]+$/,
};

/**
 * Compiles a matcher. Absent, empty or `*` is everything; letters, digits, `_`, `-`, spaces, `,` and `|` are a list of
 * exact names; whatever else is a regular expression. With Codex it is one where it has a `-`, a space or a `,`, with
 * Gemini always. Gives the problem where it is none.
 */
export function compileMatcher(
  given: string | undefined,
  dialect: HookDialect,
  isOfWorkspace = false,
): Matcher | string {
  const matcher = given?.trim() ?? '';
  if (matcher === '' || matcher === '*') return EVERYTHING;
  if (LISTS[dialect]?.test(matcher)) return exactly(matcher.split(/[,|]/));
  if (matcher.length > LONGEST) return `\`matcher\` has more than ${LONGEST} characters`;
  try {
    return matching(new RegExp(matcher), isOfWorkspace);
  } catch (error) {
    // Gemini takes what is no pattern as a name.
    return dialect === 'gemini' ? exactly([matcher]) : `\`matcher\` is no pattern: ${(error as Error).message}`;
  }
}

function exactly(list: readonly string[]): Matcher {
  const wanted = new Set(list.map((name) => name.trim()).filter((name) => name !== ''));
  return (names) => names.some((name) => wanted.has(name));
}

/** A pattern may come from the workspace, and is tried before anybody was asked: one that runs away is stopped. */
function matching(pattern: RegExp, isOfWorkspace: boolean): Matcher {
  const known = new Map<string, boolean>();
  return (names) =>
    names.some((name) => {
      const before = known.get(name);
      if (before !== undefined) return before;
      const isShort = isOfWorkspace && runaways >= MANY_RUNAWAYS;
      const found = tryPattern(pattern, { name, times: isShort ? SHORT_MS : PATTERN_MS });
      if (found === undefined && isOfWorkspace) runaways += 1;
      // A guard is rather asked once too often.
      const answer = found ?? true;
      if (known.size >= KEPT_ANSWERS) known.clear();
      known.set(name, answer);
      return answer;
    });
}

/** One for all patterns: each takes a millisecond to make, and some hundred kilobytes. */
let sandbox: ReturnType<typeof createContext> | undefined;

interface Trial {
  readonly name: string;
  readonly times: readonly number[];
}

/** Undefined where it takes too long each time. */
function tryPattern(pattern: RegExp, { name, times }: Trial): boolean | undefined {
  sandbox ??= createContext({});
  Object.assign(sandbox, { pattern, name });
  for (const timeout of times) {
    try {
      return TEST.runInContext(sandbox, { timeout }) === true;
    } catch {
      // It took too long.
    }
  }
  return undefined;
}
