import type { z } from 'zod';
import { type ManifestProblem, pathText } from '../../internal/problem.js';

type Issue = z.core.$ZodIssue;

/**
 * Converts schema issues to problems with paths. For a union it reports only the issues of the branch that matches the
 * value's type.
 */
export function problemsOfIssues(issues: readonly Issue[], value: unknown): readonly ManifestProblem[] {
  return issues.flatMap((issue) => flatten(issue)).map((issue) => problemOf(issue, value));
}

function flatten(issue: Issue, above: readonly PropertyKey[] = []): readonly Issue[] {
  const path = [...above, ...issue.path];
  if (issue.code !== 'invalid_union') return [{ ...issue, path }];
  const branch = issue.errors.find((issues) => !issues.some(isOtherKind));
  if (branch) return branch.flatMap((inner) => flatten(inner, path));
  const kinds = issue.errors.flat().flatMap((inner) => (inner.code === 'invalid_type' ? [inner.expected] : []));
  return [{ ...issue, path, message: `it must be ${[...new Set(kinds)].join(' or ')}` }];
}

/** True if the value has another type than this branch of the union. */
function isOtherKind(issue: Issue): boolean {
  return issue.path.length === 0 && issue.code === 'invalid_type';
}

function problemOf(issue: Issue, value: unknown): ManifestProblem {
  const { path, message } = issue;
  const given = valueAt(value, path);
  const isMissing = given === undefined && message.startsWith('Invalid input');
  return { path: pathText(path), message: isMissing ? 'it is missing' : (lengthProblem(issue, given) ?? message) };
}

function lengthProblem(issue: Issue, given: unknown): string | undefined {
  if (issue.code !== 'too_big' || typeof given !== 'string') return undefined;
  return `it must have at most ${issue.maximum} characters, got ${given.length}: shorten it`;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, step) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, step)
        ? (inner as Record<PropertyKey, unknown>)[step]
        : undefined,
    value,
  );
}
