import { isObject } from '../../internal/json.js';
import { nearestName } from '../../internal/options/nearest-name.js';
import { type LeveledProblem, pathText } from '../../internal/problem.js';

/** Receives the problems of a manifest and of the files that it names. */
export type Report = (level: LeveledProblem['level'], path: string, message: string) => void;

/** The keys of an object in a manifest. */
export interface KeyRules {
  readonly read: readonly string[];
  /** Keys without an effect, such as `author`. They are not reported. */
  readonly plain: readonly string[];
  /** Keys and files with an effect in another program, which Keelson does not support. */
  readonly unsupported?: readonly string[];
  /** Rules for the objects in a list or map, by the key of the list or map. */
  readonly entries?: Readonly<Record<string, KeyRules>>;
}

/** The receiver of the problems, and the path of the object in the manifest. */
interface KeyReporting {
  readonly report: Report;
  readonly at?: readonly PropertyKey[];
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
export function reportKeys(value: unknown, rules: KeyRules, { report, at = [] }: KeyReporting): void {
  if (!isObject(value)) return;
  const { read, plain, unsupported = [], entries = {} } = rules;
  for (const key of Object.keys(value)) {
    if (read.includes(key) || plain.includes(key)) continue;
    const path = pathText([...at, key]);
    const near = nearestName(key, read);
    if (unsupported.includes(key)) reportUnsupported(path, report);
    else if (near !== undefined) report('warning', path, `the key is unknown; did you mean "${near}"?`);
    else report('info', path, 'the key is unknown, so it is ignored');
  }
  for (const [key, inner] of Object.entries(entries)) {
    for (const { entry, path } of entriesIn(value[key], [...at, key])) reportKeys(entry, inner, { report, at: path });
  }
}

/** Lists the values in a list, in a map, and in a map of lists. */
function entriesIn(values: unknown, at: readonly PropertyKey[]): { entry: unknown; path: readonly PropertyKey[] }[] {
  const entries = Array.isArray(values) ? [...values.entries()] : Object.entries(isObject(values) ? values : {});
  return entries.flatMap(([key, entry]) => {
    const path = [...at, key];
    return Array.isArray(entry) ? entriesIn(entry, path) : [{ entry, path }];
  });
}

/** Reports a part that Keelson does not support. A lost guard is an error, because it is easy to overlook. */
export function reportUnsupported(path: string, report: Report): void {
  const other = COMMON_PARTS.includes(path) ? 'info' : 'warning';
  report(GUARD_PARTS.includes(path) ? 'error' : other, path, 'it is not supported, so it is ignored');
}
