/**
 * The part of the Standard Schema specification (https://standardschema.dev) that Keelson uses. Schemas of zod 4,
 * arktype and valibot implement it. Declared here so that these types need no extra package.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    /** Checks a value. */
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    /** Present if the schema's library implements the Standard JSON Schema extension. */
    readonly jsonSchema?:
      | {
          /** Returns the JSON Schema of the input. */
          readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>;
          /** Returns the JSON Schema of the output. */
          readonly output: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>;
        }
      | undefined;
  };
}

/** The checked value, or the issues of an invalid value. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** A problem with a value, and the path to it. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The output type of a schema. */
export type InferOutput<Schema> = Schema extends StandardSchema<unknown, infer Output> ? Output : unknown;

/** True for a Standard Schema. The schemas of arktype are functions, not objects. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  const standard = (value as { '~standard'?: { validate?: unknown } | null } | null | undefined)?.['~standard'];
  return typeof standard?.validate === 'function';
}

const MOST_ISSUES = 20;

/** Describes at most 20 issues as `path: message`, for a model. */
export function describeIssues(issues: readonly StandardIssue[]): string {
  const lines = issues.slice(0, MOST_ISSUES).map((issue) => `${describePath(issue.path)}${issue.message}`);
  if (issues.length > MOST_ISSUES) lines.push(`and ${issues.length - MOST_ISSUES} more`);
  return lines.join('; ');
}

function describePath(path: StandardIssue['path']): string {
  if (path === undefined || path.length === 0) return '';
  return `${path.map((step) => String((step as { readonly key?: PropertyKey } | undefined)?.key ?? step)).join('.')}: `;
}
