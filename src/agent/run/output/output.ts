import { OptionInvalidError } from '../../../errors.js';
import type { JsonSchema } from '../../../internal/json.js';
import { validateOption } from '../../../internal/options/validate.js';
import { jsonSchemaChecker, jsonSchemaOf, schemaRule } from '../../../tools/json-schema.js';
import { isStandardSchema, type StandardSchema } from '../../../tools/standard-schema.js';
import type { Run } from '../run.js';
import type { OutputCheck } from '../run-config.js';

/**
 * The schema of an answer: a Standard Schema, a plain JSON Schema, or both. Pass both if the library of the Standard
 * Schema cannot convert it to JSON Schema.
 */
export type OutputSchema<Output = unknown> =
  | StandardSchema<unknown, Output>
  | { readonly schema: StandardSchema<unknown, Output>; readonly jsonSchema: JsonSchema }
  | JsonSchema;

/** The output type of a schema; `unknown` for a plain JSON Schema. */
export type OutputOf<Schema extends OutputSchema> = [Schema] extends [OutputSchema<infer Output>] ? Output : never;

/** Converts an `output` option to the schema for the model request and the check of the answer. */
export function resolveOutput(output: OutputSchema): OutputCheck {
  const invalid = (problem: string) =>
    new OptionInvalidError(
      'output',
      `\`output\` must be a usable schema, got one that cannot be used: ${problem}; pass { schema, jsonSchema }`,
    );
  if (isStandardSchema(output)) return outputCheck(output, jsonSchemaOf(output, invalid));
  const { schema, jsonSchema, ...others } = Object(output) as { schema?: unknown; jsonSchema?: JsonSchema };
  if (isStandardSchema(schema) && Object.keys(others).length === 0) return outputCheck(schema, jsonSchema);
  validateOption('output', output, schemaRule);
  return { request: { schema: output as JsonSchema }, check: jsonSchemaChecker(output as JsonSchema) };
}

function outputCheck(schema: StandardSchema, jsonSchema: JsonSchema | undefined): OutputCheck {
  const request = jsonSchema === undefined ? undefined : { schema: jsonSchema };
  return { request, check: (value) => schema['~standard'].validate(value) };
}

/**
 * Checks the answer against the output schema. Discards the answer if it is invalid, or if a message was added after
 * it.
 */
export function reviewAnswer(run: Run): Promise<void> | undefined {
  const { answer, pending, config, conversation } = run;
  if (answer === undefined || pending !== undefined) return undefined;
  return config.output !== undefined || conversation.queue !== undefined ? review(run, answer) : undefined;
}

/** Imports the code on first use, because most runs have no schema. */
async function review(run: Run, answer: string): Promise<void> {
  const { review } = await import('./check-output.js');
  await review(run, answer);
}
