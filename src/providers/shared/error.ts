import { KeelsonError } from '../../errors.js';
import type { ModelFailureHints } from '../../model/run-error.js';
import { excerptOf, parseJson, textOr, type WireObject } from './wire.js';

/** What is known of a failed call beside its message. */
export interface ProviderFailure extends ModelFailureHints {
  readonly requestId?: string | undefined;
  readonly cause?: unknown;
}

/**
 * A call to a model provider failed: it answered with an error, its answer was cut or no answer at all, or it could not
 * be reached. `cause` is what the provider's client threw.
 */
export class ProviderError extends KeelsonError implements ModelFailureHints {
  readonly code = 'ERR_PROVIDER_FAILED';
  /** The provider's name, such as `openai`. */
  readonly provider: string;
  /** The HTTP status, where there was one; of an error inside a stream, the one that it names. */
  readonly status: number | undefined;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** How long the provider asked to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The provider's id of the request, for its support. */
  readonly requestId: string | undefined;

  constructor(provider: string, problem: string, failure: ProviderFailure = {}) {
    super(problem, failure.cause === undefined ? undefined : { cause: failure.cause });
    this.provider = provider;
    this.status = failure.status;
    this.retryable = failure.retryable ?? false;
    this.retryAfterMs = failure.retryAfterMs;
    this.requestId = failure.requestId;
  }
}

/** The error for an answer that makes no sense. */
export function invalidAnswer(provider: string, problem: string, failure: ProviderFailure): ProviderError {
  return new ProviderError(provider, `The answer cannot be read: ${problem}.`, failure);
}

/** The error for an answer that promises tool calls and has none. */
export function callsMissing(provider: string, cause: unknown): ProviderError {
  return invalidAnswer(provider, 'it is said to call tools, and calls none', { retryable: true, cause });
}

/** The error for a stream that ended too early. `unread` is what the server said in place of the rest. */
export function interrupted(provider: string, unread?: WireObject): ProviderError {
  const said = unread ? ` It said ${excerptOf(unread)}.` : '';
  const problem = `The stream ended before the answer did: the connection was cut, or the server gave up.${said}`;
  return new ProviderError(provider, problem, { retryable: true, cause: unread });
}

/** What to throw for a body that is no answer. One that is empty, or half a JSON text, was lost on its way. */
export function unreadableBody(provider: string, body: unknown): ProviderError {
  const text = textOr(body).trim();
  const isHalf = /^[{[]/.test(text) && parseJson(text) === undefined;
  const what = isHalf ? 'it is no whole JSON' : `it is no JSON object but "${text.slice(0, 80)}". Check the baseURL`;
  const problem = `The answer cannot be read: ${text === '' ? 'it is empty' : what}.`;
  return new ProviderError(provider, problem, { retryable: text === '' || isHalf, cause: body });
}

/** What fails while an answer is read does not know whose answer it was. */
export function withRequestId(error: unknown, requestId: string | null | undefined): unknown {
  if (!requestId || !(error instanceof ProviderError) || error.requestId !== undefined) return error;
  return new ProviderError(error.provider, error.message, { ...error, requestId, cause: error.cause });
}
