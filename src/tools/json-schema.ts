import { describeError } from '../errors.js';
import { isObject, type JsonSchema } from '../internal/json.js';
import type { OptionRule } from '../internal/options/validate.js';
import { isStandardSchema, type StandardResult, type StandardSchema } from './standard-schema.js';

/** Accepts a schema. A plain object of schemas is not one: as a JSON Schema it would accept every value. */
export const schemaRule: OptionRule = {
  expected: 'a Standard Schema or a JSON Schema; wrap a map of schemas in `z.object(…)`',
  accepts: (value) => isStandardSchema(value) || (isObject(value) && !Object.values(value).some(isStandardSchema)),
};

/**
 * Returns the JSON Schema of the input of a Standard Schema, or undefined if the schema's library cannot convert
 * schemas. Throws the error from `invalid` if the conversion of this schema fails.
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

/** Checks values against a plain JSON Schema. The validator is loaded at the first check. */
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
