import type { JsonSchema } from '../../internal/json.js';
import { compileJsonSchema, faultOfValue, issuesOf, lenientDraftOf } from '../../tools/json-schema-check.js';
import type { StandardResult } from '../../tools/standard-schema.js';
import { type CheckWorker, sharedWorker } from './check-worker.js';

/** Checks a value against a schema. Rejects with the reason of the abort signal. */
export type BoundedCheck = (input: unknown, signal?: AbortSignal) => Promise<StandardResult<unknown>>;

/**
 * Returns a check for a schema of a server. It runs in a worker thread with limits of time and memory; exceeding a limit is
 * an issue. `format` is an annotation, as in draft 2020-12, and `nullable` allows null, as in OpenAPI. A pattern that is
 * invalid in JavaScript checks nothing. A boolean `exclusiveMinimum` or `exclusiveMaximum` has its meaning in draft 4.
 * Without worker threads, the check runs on the main thread: it counts its steps, and ignores patterns.
 */
export function boundedCheck(schema: JsonSchema, worker: CheckWorker = sharedWorker): BoundedCheck {
  return async (input, signal) => {
    const value = jsonOf(input);
    if (typeof value !== 'string') return { issues: [{ message: value.problem, path: [] }] };
    const draft = lenientDraftOf(schema.$schema);
    const outcome = await worker.check({ schema: JSON.stringify(schema), draft, value, signal });
    if (outcome === undefined) return compileJsonSchema(schema, { isLenient: true, ignoresPatterns: true })(input);
    if ('problem' in outcome) return { issues: [{ message: outcome.problem, path: [] }] };
    if ('fault' in outcome) return { issues: [{ message: faultOfValue(outcome.fault), path: [] }] };
    return outcome.errors.length === 0 ? { value: input } : { issues: issuesOf(outcome.errors) };
  };
}

/** Starts the worker, so that the first check of a connection need not wait for it. */
export function prepareChecks(): void {
  boundedCheck({})(null).catch(() => {});
}

function jsonOf(value: unknown): string | { readonly problem: string } {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (error) {
    const isDeep = error instanceof RangeError;
    return { problem: isDeep ? 'It is nested too deeply to be checked.' : 'It holds a value that JSON cannot hold.' };
  }
}
