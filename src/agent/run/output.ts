import { describeError, OptionInvalidError } from '../../errors.js';
import type { JsonSchema } from '../../internal/json.js';
import { validateOption } from '../../internal/options/validate.js';
import { jsonSchemaChecker, jsonSchemaOf, schemaRule } from '../../tools/json-schema.js';
import {
  describeIssues,
  isStandardSchema,
  type StandardIssue,
  type StandardResult,
  type StandardSchema,
} from '../../tools/standard-schema.js';
import { OutputInvalidError } from '../run-result.js';
import type { Run } from './run.js';
import type { OutputCheck } from './run-config.js';

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
 * Returns the checked value of an answer. After the first mismatch the answer is discarded, and a user message tells
 * the model what is wrong. After the second mismatch throws OutputInvalidError. A refused answer, or an answer of a
 * hook, is not repaired.
 */
export async function checkOutput(run: Run, answer: string): Promise<unknown> {
  const { output, maxTurns } = run.config;
  if (output === undefined) return answer;
  const { end, conversation } = run;
  const checked = await end.race(checkText(output, answer));
  end.throwIfAborted();
  if (checked.issues === undefined) return checked.value;
  const described = describeIssues(checked.issues);
  const isFinal = end.verdict !== undefined || run.response?.finishReason === 'content-filter';
  if (isFinal || run.repaired || run.context.turn >= maxTurns) {
    throw end.own(new OutputInvalidError(answer, checked.issues, describeIssues(checked.issues.map(withoutAnswer))));
  }
  run.repaired = true;
  run.answer = undefined;
  conversation.addQueued();
  const content = `The answer does not match what was asked for: ${described}\nAnswer again, with JSON alone.`;
  conversation.push({ role: 'user', content });
  return undefined;
}

const NOT_JSON = 'it is not JSON';

/** The message of an issue can quote the answer, which must not get into logs. */
function withoutAnswer({ message, path }: StandardIssue): StandardIssue {
  return { message: message === NOT_JSON ? message : 'invalid (see `issues`)', path };
}

/**
 * Checks the answer against the output schema. Discards the answer if another turn has to follow, because the answer is not
 * valid or a message was added after it.
 */
export function reviewAnswer(run: Run): PromiseLike<void> | undefined {
  const { answer, pending, config, conversation } = run;
  if (answer === undefined || pending !== undefined) return undefined;
  return config.output !== undefined || conversation.queue !== undefined ? review(run, answer) : undefined;
}

async function review(run: Run, answer: string): Promise<void> {
  run.output = await checkOutput(run, answer);
  if (run.answer === undefined || run.conversation.queue === undefined) return;
  const { maxTurns, logger } = run.config;
  run.conversation.addQueued();
  if (run.context.turn < maxTurns) {
    run.answer = undefined;
  } else {
    logger.warn(`A message added after the last of ${maxTurns} turns stays in the history unanswered.`);
    await run.save();
  }
}

async function checkText(output: OutputCheck, answer: string): Promise<StandardResult<unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(withoutFence(answer));
  } catch {
    // The message of `JSON.parse` quotes the answer, and the answer must not get into logs.
    return { issues: [{ message: NOT_JSON } satisfies StandardIssue] };
  }
  try {
    const { issues, ...checked } = await output.check(value);
    return issues === undefined ? (checked as StandardResult<unknown>) : { issues };
  } catch (error) {
    return { issues: [{ message: `the check failed (${describeError(error)})` } satisfies StandardIssue] };
  }
}

/** Removes a Markdown code fence, which some models put around JSON. */
function withoutFence(text: string): string {
  const trimmed = text.trim();
  return trimmed.startsWith('```') ? trimmed.replace(/^```(?:json)?|```$/gi, '') : trimmed;
}
