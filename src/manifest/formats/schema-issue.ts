import type { z } from 'zod';
import { type ManifestProblem, pathText } from '../../internal/problem.js';

type Issue = z.core.$ZodIssue;

/**
 * Returns the value as the schema converts it, or a problem for each issue. For a union it reports only the issues of
 * the branch that matches the value's type.
 */
export function parseAs<Data>(
  schema: z.ZodType<Data>,
  value: unknown,
): { readonly data: Data } | { readonly problems: readonly ManifestProblem[] } {
  const { data, error } = schema.safeParse(value, { error: messageOf });
  if (error === undefined) return { data };
  const issues = error.issues.flatMap((issue) => flatten(issue));
  return { problems: issues.map(({ path, message }) => ({ path: pathText(path), message })) };
}

/** Returns undefined for an issue whose message the schema or `zod` sets. */
function messageOf(issue: z.core.$ZodRawIssue): string | undefined {
  const { code, input } = issue;
  if (input === undefined) return 'it is missing';
  if (code !== 'too_big' || typeof input !== 'string') return undefined;
  return `it must have at most ${issue.maximum} characters, got ${input.length}: shorten it`;
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
