import { describeError } from '../errors.js';
import { isObject, type JsonSchema } from '../internal/json.js';
import type { OptionRule } from '../internal/options/validate.js';
import { isStandardSchema, type StandardResult, type StandardSchema } from './standard-schema.js';

/**
 * The rule for an option that takes a schema. Refuses an object of schemas, because as a JSON Schema it would accept
 * every value.
 */
export const schemaRule: OptionRule = {
  expected: 'a Standard Schema or a JSON Schema; wrap a map of schemas in `z.object(…)`',
  accepts: (value) => isStandardSchema(value) || (isObject(value) && !Object.values(value).some(isStandardSchema)),
};

/**
 * Returns the JSON Schema of a Standard Schema's input. Returns undefined if the library of the schema cannot convert
 * schemas.
 *
 * If the conversion of this schema fails, throws the error that `invalid` makes.
 */
export function jsonSchemaOf(schema: StandardSchema, invalid: (problem: string) => Error): JsonSchema | undefined {
  try {
    const standard = schema['~standard'].jsonSchema;
    if (standard !== undefined) return standard.input({ target: 'draft-2020-12' });
    // Releases of arktype before the Standard JSON Schema extension convert schemas by this method.
    return (schema as { toJsonSchema?: () => JsonSchema }).toJsonSchema?.();
  } catch (error) {
    throw invalid(`it has no JSON Schema (${describeError(error)})`);
  }
}

/** Returns a function that checks values against a plain JSON Schema. The validator is loaded at the first check. */
export function jsonSchemaChecker(
  schema: JsonSchema,
): (input: unknown) => StandardResult<unknown> | Promise<StandardResult<unknown>> {
  let check: ((input: unknown) => StandardResult<unknown>) | undefined;
  return (input) => {
    if (check !== undefined) return check(input);
    return import('./json-schema-check.js').then(({ compileJsonSchema }) => {
      check ??= compileJsonSchema(schema);
      return check(input);
    });
  };
}
