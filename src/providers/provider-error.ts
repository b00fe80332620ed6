import { KeelsonError } from '../errors.js';
import type { ModelFailureHints } from '../model/run-error.js';

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
