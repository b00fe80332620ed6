import { dereference, type OutputUnit, type Schema, type SchemaDraft, validate } from '@cfworker/json-schema';
import { describeError, OptionInvalidError } from '../errors.js';
import type { JsonSchema } from '../internal/json.js';
import { lostIn, relax } from './lenient-schema.js';
import type { StandardIssue, StandardResult } from './standard-schema.js';

const MOST_ISSUES = 20;
/** Limit of schema evaluations in one check. Without it, nested references could block the thread forever. */
const MOST_STEPS = 2_000_000;

/** Keywords whose error only repeats that a nested schema failed. */
const WRAPPERS = new Set(
  `$ref $recursiveRef allOf if properties patternProperties additionalProperties unevaluatedProperties items prefixItems
  additionalItems unevaluatedItems`.split(/\s+/),
);

/**
 * Compiles a plain JSON Schema into a check. Throws OptionInvalidError if the schema is invalid.
 *
 * `isLenient` is for the schemas of MCP servers: ignores `format` and invalid patterns, accepts null for `nullable`,
 * and accepts the bounds of draft 4 in every draft. `ignoresPatterns` makes a lenient check ignore valid patterns too.
 */
export function compileJsonSchema(
  schema: JsonSchema,
  {
    isLenient = false,
    ignoresPatterns = false,
  }: { readonly isLenient?: boolean; readonly ignoresPatterns?: boolean } = {},
): (input: unknown) => StandardResult<unknown> {
  const draft = isLenient ? lenientDraftOf(schema.$schema) : draftOf(schema.$schema);
  const { copy, lookup } = resolveReferences(schema);
  if (isLenient) relax(lookup, ignoresPatterns);
  const steps = countSteps(Object.values(lookup));
  const errorsOf = (input: unknown, first: boolean) => {
    steps.left = MOST_STEPS;
    return validate(input, copy, draft, lookup, first).errors;
  };
  return (input) => {
    try {
      const errors = errorsOf(input, true);
      if (errors.length === 0) return { value: input };
      return { issues: issuesOf(allErrors(() => errorsOf(input, false)) ?? errors) };
    } catch (error) {
      return { issues: [{ message: faultOfValue(error), path: [] }] };
    }
  };
}

/** Returns the first unresolvable `$ref`, or undefined. Throws OptionInvalidError if the schema is invalid. */
export function lostReference(schema: JsonSchema): string | undefined {
  return lostIn(resolveReferences(schema).lookup);
}

/**
 * Copies the schema, because the validator changes it and the original may be frozen. Maps each subschema by its URI.
 */
function resolveReferences(schema: JsonSchema) {
  try {
    const copy: Schema = JSON.parse(JSON.stringify(schema));
    return { copy, lookup: dereference(copy) };
  } catch (error) {
    throw unusable(error);
  }
}

/** Thrown when a check exceeds `MOST_STEPS`. */
class StepsExceededError extends RangeError {}

/**
 * Makes the schemas count their evaluations, and throw when `left` is used up. The validator reads `$ref` of a schema
 * once per evaluation.
 */
function countSteps(schemas: readonly (Schema | boolean)[]): { left: number } {
  const steps = { left: 0 };
  for (const schema of new Set(schemas)) {
    if (typeof schema === 'boolean') continue;
    const { $ref } = schema;
    const get = () => {
      if (steps.left === 0) throw new StepsExceededError();
      steps.left -= 1;
      return $ref;
    };
    Object.defineProperty(schema, '$ref', { get, enumerable: $ref !== undefined });
  }
  return steps;
}

export type { SchemaDraft };

/** Returns the draft for a lenient check. Schemas of draft 4 use draft 7, because their bounds are converted before. */
export function lenientDraftOf(uri: unknown): SchemaDraft {
  const draft = draftOf(uri);
  return draft === '4' ? '7' : draft;
}

/** Returns the draft of a schema by its `$schema`. Default: 2020-12. */
function draftOf(uri: unknown): SchemaDraft {
  const known = /draft-0([467])|2019-09/.exec(String(uri));
  if (known === null) return '2020-12';
  if (known[1] === undefined) return '2019-09';
  return known[1] === '4' ? '4' : '7';
}

function unusable(error: unknown): OptionInvalidError {
  const [problem] = describeError(error).split('\n');
  return new OptionInvalidError('schema', `\`schema\` must be a JSON Schema, got one that cannot be used: ${problem}`);
}

/** Returns all errors. Returns undefined if collecting them exceeds the stack or the limit of evaluations. */
function allErrors(work: () => OutputUnit[]): OutputUnit[] | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/**
 * Describes a value on which the validator failed. Throws if the schema caused the failure, for example by a broken
 * `$ref`.
 */
export function faultOfValue(error: unknown): string {
  const { name, message = '' } = error as { readonly name?: string; readonly message?: string };
  if (error instanceof StepsExceededError) return 'It takes too long to be checked.';
  if (name === 'RangeError') return 'It is nested too deeply to be checked.';
  if (name === 'URIError') return 'It has a property name that is not valid Unicode.';
  if (message.startsWith('Instances of')) return 'It holds a value that JSON cannot hold.';
  throw unusable(error);
}

/** One error of the validator. */
export type ValidatorError = Pick<OutputUnit, 'keyword' | 'error' | 'instanceLocation'>;

/** Converts errors of the validator to at most 20 issues. */
export function issuesOf(errors: readonly ValidatorError[]): StandardIssue[] {
  const specific = errors.filter((error) => !WRAPPERS.has(error.keyword));
  return (specific.length > 0 ? specific : errors).slice(0, MOST_ISSUES).map((error) => ({
    message: error.keyword === 'false' ? 'Nothing is allowed here.' : error.error,
    path: error.instanceLocation.split('/').slice(1).map(stepOf),
  }));
}

function stepOf(step: string): string {
  return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
}
