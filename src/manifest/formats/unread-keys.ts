import { nearestName } from '../../internal/options/nearest-name.js';
import type { ManifestProblem } from '../../internal/problem.js';

/** The keys of an object in another program's manifest. */
export interface KeyRules {
  /** Keys that Keelson reads. */
  readonly read: readonly string[];
  /** Keys that have no effect in the other program either, such as `author`. */
  readonly plain: readonly string[];
  /** Keys with an effect in the other program, which Keelson does not support. */
  readonly unsupported: readonly string[];
}

/** The problems of a manifest by level. */
export interface ProblemLists {
  readonly warnings: ManifestProblem[];
  readonly notes: ManifestProblem[];
}

const UNSUPPORTED = 'it is not supported, so it is ignored';

/** Unsupported parts that most published packages have. A warning that most packages cause would hide the others. */
const COMMON_PARTS = ['agents'];
/** Unsupported parts that can only restrict tools: Gemini CLI ignores a policy of an extension that allows something. */
const GUARD_PARTS = ['policies'];

/** Reports a part that Keelson does not support. A lost guard is an error. */
export function reportPart(path: string, { errors, ...lists }: ProblemLists & { errors: ManifestProblem[] }): void {
  if (GUARD_PARTS.includes(path)) errors.push({ path, message: UNSUPPORTED });
  else reportUnsupported(path, lists);
}

function reportUnsupported(path: string, { warnings, notes }: ProblemLists): void {
  (COMMON_PARTS.includes(path) ? notes : warnings).push({ path, message: UNSUPPORTED });
}

/** Reports the keys without an effect. A key is worth a warning if its author can expect an effect. */
export function reportUnreadKeys(
  value: object,
  rules: KeyRules,
  { at = '', ...lists }: ProblemLists & { at?: string },
) {
  for (const key of Object.keys(value)) {
    if (rules.read.includes(key) || rules.plain.includes(key)) continue;
    const path = at + key;
    const near = nearestName(key, rules.read);
    if (rules.unsupported.includes(key)) reportUnsupported(path, lists);
    else if (near !== undefined) lists.warnings.push({ path, message: `the key is unknown; did you mean "${near}"?` });
    else lists.notes.push({ path, message: 'the key is unknown, so it is ignored' });
  }
}
