/**
 * The part of the Standard Schema specification (https://standardschema.dev) that is read here. zod 4, arktype, valibot
 * and others have it. Declared structurally, so that no package is needed for the type.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    /** Checks a value. */
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    /** Present where the library can give its JSON Schema (the Standard JSON Schema extension). */
    readonly jsonSchema?:
      | {
          /** The schema of what goes in. */
          readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>;
          /** The schema of what comes out. */
          readonly output: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>;
        }
      | undefined;
  };
}

/** The checked value, or what is wrong with it. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One thing that is wrong, and where. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What a schema gives after the check. */
export type InferOutput<Schema> = Schema extends StandardSchema<unknown, infer Output> ? Output : unknown;

/** Whether a value is a Standard Schema. arktype's are functions. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  return typeof (value as Partial<StandardSchema> | undefined)?.['~standard']?.validate === 'function';
}

const MOST_ISSUES = 20;

/** Each issue as `path: message`, as far as a model can use: a long list has as many of the same kind. */
export function describeIssues(issues: readonly StandardIssue[]): string {
  const told = issues.slice(0, MOST_ISSUES).map((issue) => `${describePath(issue.path)}${issue.message}`);
  if (issues.length > MOST_ISSUES) told.push(`and ${issues.length - MOST_ISSUES} more`);
  return told.join('; ');
}

function describePath(path: StandardIssue['path']): string {
  if (path === undefined || path.length === 0) return '';
  return `${path.map((step) => String((step as { readonly key?: PropertyKey } | undefined)?.key ?? step)).join('.')}: `;
}
