import { KeelsonError } from '../../errors.js';
import type { ModelErrorKind, ModelFailureHints } from '../../model/run-error.js';
import { excerptOf, parseJson, textOr, type WireObject } from './wire.js';

/** Details of a failed model call, for a ProviderError. */
export interface ProviderFailure extends ModelFailureHints {
  readonly requestId?: string | undefined;
  readonly cause?: unknown;
}

/**
 * A call to a model provider failed: an error status, an incomplete or invalid response, or a lost connection.
 * `cause` is the error of the provider's client.
 */
export class ProviderError extends KeelsonError implements ModelFailureHints {
  readonly code = 'ERR_PROVIDER_FAILED';
  /** The provider's name, such as `openai`. */
  readonly provider: string;
  /** The kind of failure, such as `rate-limit`, judged by the status code and by the provider's wording. */
  readonly kind: ModelErrorKind;
  /** The HTTP status code, or the status that an error inside a stream names. Undefined without a response. */
  readonly status: number | undefined;
  /** True if the same call may succeed later. */
  readonly retryable: boolean;
  /** The delay before a retry that the provider asked for, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The id that the provider gave to the request. Quote it in a support ticket. */
  readonly requestId: string | undefined;

  constructor(provider: string, problem: string, failure: ProviderFailure = {}) {
    super(problem, failure.cause === undefined ? undefined : { cause: failure.cause });
    this.provider = provider;
    this.kind = failure.kind ?? 'unknown';
    this.status = failure.status;
    this.retryable = failure.retryable ?? false;
    this.retryAfterMs = failure.retryAfterMs;
    this.requestId = failure.requestId;
  }
}

/** Creates the error for a response that cannot be read. */
export function invalidAnswer(provider: string, problem: string, failure: ProviderFailure): ProviderError {
  return new ProviderError(provider, `The response cannot be read: ${problem}.`, failure);
}

/** Creates the error for a response without tool calls whose finish reason says that there are some. */
export function callsMissing(provider: string, cause: unknown): ProviderError {
  return invalidAnswer(provider, 'its finish reason announces tool calls, but it contains no tool call', {
    retryable: true,
    cause,
  });
}

/**
 * Creates the error for a stream that ended before the response was complete. `unread` is its last event, if the
 * event's type is unknown.
 */
export function interrupted(provider: string, unread?: WireObject): ProviderError {
  const lastEvent = unread ? ` Its last event was ${excerptOf(unread)}.` : '';
  const problem = `The stream ended before the response was complete: the connection was lost, or the server stopped.${lastEvent}`;
  return new ProviderError(provider, problem, { kind: 'network', retryable: true, cause: unread });
}

/**
 * Creates the error for a response body that is not a JSON object. An empty or incomplete body was probably cut off, so
 * the error is then retryable.
 */
export function unreadableBody(provider: string, body: unknown): ProviderError {
  const text = textOr(body).trim();
  const isHalf = /^[{[]/.test(text) && parseJson(text) === undefined;
  const what = isHalf
    ? 'its JSON is incomplete'
    : `expected a JSON object, got "${text.slice(0, 80)}". Check the baseURL`;
  const problem = `The response cannot be read: ${text === '' ? 'its body is empty' : what}.`;
  const retryable = text === '' || isHalf;
  return new ProviderError(provider, problem, { kind: retryable ? 'network' : 'unknown', retryable, cause: body });
}

/** Adds the provider's request id to an error that was thrown while the response was read. */
export function withRequestId(error: unknown, requestId: string | null | undefined): unknown {
  if (!requestId || !(error instanceof ProviderError) || error.requestId !== undefined) return error;
  return new ProviderError(error.provider, error.message, { ...error, requestId, cause: error.cause });
}
