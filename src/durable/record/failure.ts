import { RunTimeoutError } from '../../agent/run-result.js';
import { describeError, KeelsonError } from '../../errors.js';
import { isObject, type JsonValue } from '../../internal/json.js';
import { LifecycleError, RejectedError, RunAbortedError } from '../../lifecycle/run-failure.js';
import { ModelError, type ModelErrorKind } from '../../model/run-error.js';
import { StepFailedError } from '../error.js';

/** The largest number of nested causes that are stored with an error. */
const MAX_CAUSES = 5;

/** An error as JSON, as the result of a step contains it. */
export type FailureJson = { readonly [key: string]: JsonValue };

/**
 * Converts an error to JSON. Fields such as `retryable` of a ModelError are stored for the error classes that have
 * them.
 */
export function failureToJson(error: unknown, depth = 0): FailureJson {
  const { name, code, status, cause } = Object(error) as Record<string, unknown>;
  const json: Record<string, JsonValue> = { message: describeError(error) };
  if (typeof name === 'string') json.name = name;
  if (typeof code === 'string') json.code = code;
  if (typeof status === 'number') json.status = status;
  if (error instanceof ModelError) Object.assign(json, modelJson(error));
  else if (error instanceof RejectedError)
    Object.assign(json, { reason: error.reason, by: error.by, point: error.point });
  else if (error instanceof RunTimeoutError) json.timeoutMs = error.timeoutMs;
  else if (error instanceof LifecycleError) Object.assign(json, { lifecycle: error.lifecycle, point: error.point });
  if (cause !== undefined && depth < MAX_CAUSES) json.cause = failureToJson(cause, depth + 1);
  return json;
}

/**
 * Restores an error from JSON. A ModelError, a RejectedError and a LifecycleError get their class back. Any other error
 * becomes a StepFailedError.
 */
export function failureFromJson(json: FailureJson): Error {
  const { message, name, code, cause } = json;
  const restored = isObject(cause) ? failureFromJson(cause as FailureJson) : undefined;
  if (name === 'ModelError') return new ModelError(String(json.model), modelCause(json, restored));
  if (name === 'RejectedError') return new RejectedError(String(json.reason), String(json.by), json.point as never);
  if (name === 'LifecycleError') return new LifecycleError(String(json.lifecycle), String(json.point), restored);
  const original = typeof name === 'string' ? name : 'Error';
  const error = new StepFailedError(String(message), original, typeof code === 'string' ? code : undefined);
  return restored === undefined ? error : Object.assign(error, { cause: restored });
}

/** Restores the error with which a run was aborted. */
export function abortFromJson(json: FailureJson): Error {
  if (json.name === 'RunTimeoutError') return new RunTimeoutError(Number(json.timeoutMs));
  return new RunAbortedError(failureFromJson((isObject(json.cause) ? json.cause : json) as FailureJson));
}

/**
 * True for a ModelError, a RejectedError or a LifecycleError. When such an error is restored, it ends the run as it did
 * in the earlier attempt.
 */
export function endsRun(error: unknown): boolean {
  return error instanceof KeelsonError && ['ModelError', 'RejectedError', 'LifecycleError'].includes(error.name);
}

function modelJson({ model, kind, retryable, retryAfterMs }: ModelError): Record<string, JsonValue> {
  return { model, kind, retryable, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** Returns a cause for a restored ModelError. The class reads its kind, status and retry delay from the cause. */
function modelCause({ kind, status, retryable, retryAfterMs }: FailureJson, cause: Error | undefined): object {
  const hints = { kind: kind as ModelErrorKind, status, retryable, retryAfterMs };
  return Object.assign(cause ?? new StepFailedError('unknown error', 'Error', undefined), hints);
}
