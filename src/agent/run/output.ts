import { describeError, OptionInvalidError } from '../../errors.js';
import { isObject, type JsonSchema } from '../../internal/json.js';
import { invalidOption } from '../../internal/options/validate.js';
import { jsonSchemaChecker, jsonSchemaOf } from '../../tools/json-schema.js';
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
import { saveRun } from './turn.js';

/**
 * What an answer must be: a Standard Schema, one with an explicit JSON Schema beside it (for libraries that cannot give
 * their own), or a plain JSON Schema.
 */
export type OutputSchema<Output = unknown> =
  | StandardSchema<unknown, Output>
  | { readonly schema: StandardSchema<unknown, Output>; readonly jsonSchema: JsonSchema }
  | JsonSchema;

/** The type of a run's output: its schema's type, `unknown` for a plain JSON Schema. */
export type OutputOf<Schema extends OutputSchema> = [Schema] extends [OutputSchema<infer Output>] ? Output : never;

/** Takes an `output` option apart into what the model is told and what the answer is checked with. */
export function resolveOutput(output: OutputSchema): OutputCheck {
  const invalid = (problem: string) =>
    new OptionInvalidError('output', `\`output\` is invalid: ${problem}; pass { schema, jsonSchema }`);
  if (isStandardSchema(output)) return outputCheck(output, jsonSchemaOf(output, invalid));
  if (!isObject(output)) {
    throw invalidOption('output', 'a Standard Schema or a JSON Schema', output);
  }
  const { schema, jsonSchema } = output as { schema?: unknown; jsonSchema?: JsonSchema };
  if (isStandardSchema(schema)) return outputCheck(schema, jsonSchema);
  return { request: { schema: output as JsonSchema }, check: jsonSchemaChecker(output as JsonSchema) };
}

function outputCheck(schema: StandardSchema, jsonSchema: JsonSchema | undefined): OutputCheck {
  const request = jsonSchema === undefined ? undefined : { schema: jsonSchema };
  return { request, check: (value) => schema['~standard'].validate(value) };
}

/**
 * The checked value of an answer. Where it does not match, the first time, the model is asked once more: the answer is
 * taken back and a user message says what is wrong. The second time OutputInvalidError. An answer that was refused or
 * that a hook gave is not repaired.
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
  if (isFinal || run.repaired || run.turn >= maxTurns) {
    throw end.own(new OutputInvalidError(answer, checked.issues, described));
  }
  run.repaired = true;
  end.answer = undefined;
  conversation.flush();
  const content = `The answer does not match what was asked for: ${described}\nAnswer again, with JSON alone.`;
  conversation.push({ role: 'user', content });
  return undefined;
}

/** Holds an answer against the output schema, and takes it back when it is not the last. */
export function weighAnswer(run: Run): PromiseLike<void> | undefined {
  if (run.end.answer === undefined || run.pending !== undefined) return undefined;
  return run.config.output === undefined ? weighAdditions(run) : weighValue(run, run.end.answer);
}

async function weighValue(run: Run, answer: string): Promise<void> {
  run.output = await checkOutput(run, answer);
  if (run.end.answer !== undefined && run.conversation.hasQueued) await weighAdditions(run);
}

/** A message that was added after the answer buys another turn; after the last turn it stands in the history unanswered. */
function weighAdditions(run: Run): PromiseLike<void> | undefined {
  const { maxTurns, logger } = run.config;
  run.conversation.flush();
  if (run.turn < maxTurns) {
    run.end.answer = undefined;
    return undefined;
  }
  logger.warn(`A message added after the last of ${maxTurns} turns stands in the history unanswered.`);
  return saveRun(run);
}

async function checkText(output: OutputCheck, answer: string): Promise<StandardResult<unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(withoutFence(answer));
  } catch (error) {
    return { issues: [{ message: `it is no JSON (${describeError(error)})` } satisfies StandardIssue] };
  }
  try {
    const { issues, ...checked } = await output.check(value);
    return issues === undefined ? (checked as StandardResult<unknown>) : { issues };
  } catch (error) {
    return { issues: [{ message: `the check failed (${describeError(error)})` } satisfies StandardIssue] };
  }
}

/** Models that were not made to answer in JSON alone put it into a code fence. */
function withoutFence(text: string): string {
  const trimmed = text.trim();
  return trimmed.startsWith('```') ? trimmed.replace(/^```(?:json)?|```$/gi, '') : trimmed;
}
