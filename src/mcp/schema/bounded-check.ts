import type { JsonSchema } from '../../internal/json.js';
import { compileJsonSchema, faultOfValue, issuesOf, lenientDraftOf } from '../../tools/json-schema-check.js';
import type { StandardResult } from '../../tools/standard-schema.js';
import { isCheapCheck } from './check-cost.js';
import { type CheckOutcome, type CheckWorker, sharedWorker } from './check-worker.js';
import { NotJsonError } from './json-pieces.js';
import { isSmallSchema } from './schema-cost.js';

/** Checks a value against a schema. Rejects with the reason of the abort signal. */
export type BoundedCheck = (
  input: unknown,
  signal?: AbortSignal,
) => StandardResult<unknown> | Promise<StandardResult<unknown>>;

/**
 * Returns a check for a schema of a server. A check on the main thread takes less than 100 ms. Every other check runs in
 * a worker thread with limits of time and memory; exceeding a limit is an issue. `format` is an annotation, as in draft
 * 2020-12, and `nullable` allows null, as in OpenAPI. A pattern that is invalid in JavaScript checks nothing. A boolean
 * bound is that of draft 4. Without worker threads, the check runs on the main thread: it counts its steps, and ignores
 * patterns.
 */
export function boundedCheck(schema: JsonSchema, worker: CheckWorker = sharedWorker): BoundedCheck {
  let checkOnThread: ReturnType<typeof compileJsonSchema> | undefined;
  let isSmall: boolean | undefined;
  return (input, signal) => {
    isSmall ??= isSmallSchema(schema);
    if (!isSmall || !isCheapCheck(schema, input)) return checkInWorker(schema, input, { worker, signal });
    checkOnThread ??= compileJsonSchema(schema, { isLenient: true });
    return checkOnThread(input);
  };
}

async function checkInWorker(
  schema: JsonSchema,
  value: unknown,
  { worker, signal }: { readonly worker: CheckWorker; readonly signal: AbortSignal | undefined },
): Promise<StandardResult<unknown>> {
  const job = { schema: JSON.stringify(schema), draft: lenientDraftOf(schema.$schema), value, signal };
  const outcome = await worker.check(job).catch((error: unknown): CheckOutcome | undefined => {
    if (error instanceof NotJsonError) return { problem: error.message };
    throw error;
  });
  if (outcome === undefined) return compileJsonSchema(schema, { isLenient: true, ignoresPatterns: true })(value);
  if ('problem' in outcome) return { issues: [{ message: outcome.problem, path: [] }] };
  if ('fault' in outcome) return { issues: [{ message: faultOfValue(outcome.fault), path: [] }] };
  return outcome.errors.length === 0 ? { value } : { issues: issuesOf(outcome.errors) };
}
