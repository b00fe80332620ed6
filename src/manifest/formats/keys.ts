import { isObject } from '../../internal/json.js';
import { nearestName } from '../../internal/options/nearest-name.js';
import { type ManifestProblem, pathText } from '../../internal/problem.js';

/** The keys of an object in a manifest. */
export interface KeyRules {
  readonly read: readonly string[];
  /** Keys without an effect, such as `author`. They are not reported. */
  readonly plain: readonly string[];
  /** Keys and files with an effect in another program, which Keelson does not support. */
  readonly unsupported?: readonly string[];
}

/** The problems of a manifest by level. */
export interface ProblemLists {
  /**
   * Lost guards. They are errors, because a run without the guard looks like a run in which the guard had nothing to
   * block.
   */
  readonly errors: ManifestProblem[];
  readonly warnings: ManifestProblem[];
  readonly notes: ManifestProblem[];
}

/** Keys that describe a package in each format. */
export const PLAIN_KEYS = ['author', 'homepage', 'repository', 'license', 'keywords'] as const;

/** Unsupported parts that most published packages have. A warning that most packages cause would hide the others. */
const COMMON_PARTS = ['agents'];
/** Unsupported parts that can only restrict tools: Gemini CLI ignores a policy of an extension that allows something. */
const GUARD_PARTS = ['policies'];

/**
 * Reports the keys of an object that are not read. A key is worth a warning if its author can expect an effect: it is
 * similar to a known key, or has an effect in another program. Any other unknown key is a note.
 */
export function reportKeys(
  value: unknown,
  { read, plain, unsupported = [] }: KeyRules,
  lists: ProblemLists & { readonly at?: readonly PropertyKey[] },
): void {
  for (const key of isObject(value) ? Object.keys(value) : []) {
    if (read.includes(key) || plain.includes(key)) continue;
    const path = pathText([...(lists.at ?? []), key]);
    const near = nearestName(key, read);
    if (unsupported.includes(key)) reportUnsupported(path, lists);
    else if (near !== undefined) lists.warnings.push({ path, message: `the key is unknown; did you mean "${near}"?` });
    else lists.notes.push({ path, message: 'the key is unknown, so it is ignored' });
  }
}

/** Reports a part that Keelson does not support. A lost guard is an error. */
export function reportUnsupported(path: string, { errors, warnings, notes }: ProblemLists): void {
  const others = COMMON_PARTS.includes(path) ? notes : warnings;
  (GUARD_PARTS.includes(path) ? errors : others).push({ path, message: 'it is not supported, so it is ignored' });
}
