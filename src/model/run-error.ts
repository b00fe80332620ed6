import { describeError, KeelsonError } from '../errors.js';
import type { Message } from './message.js';
import type { Usage } from './model.js';

/** What a run had done when it failed. Every tool call in `messages` has its result. */
export interface RunErrorState {
  /** The messages that the run added, the user's first. */
  readonly messages: readonly Message[];
  /** The working list at the end: what a new run can go on from. */
  readonly history: readonly Message[];
  readonly usage: Usage;
}

/** A failure that ended a run. Carries what was done until then, so that nothing is lost. */
export abstract class RunError extends KeelsonError implements RunErrorState {
  messages: readonly Message[] = [];
  history: readonly Message[] = [];
  usage: Usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

  /** Called by the run as it ends, once its messages are whole. */
  attach(state: RunErrorState): this {
    this.messages = state.messages;
    this.history = state.history;
    this.usage = state.usage;
    return this;
  }
}

/** The model call failed, or gave something that is no response. `cause` is what the model threw. */
export class ModelError extends RunError {
  readonly code = 'ERR_MODEL_FAILED';
  /** The model's id. */
  readonly model: string;
  /** The HTTP status, where there was one. */
  readonly status: number | undefined;
  /** Whether the same call may succeed later: 408, 409, 429, 5xx, a lost connection, a time-out. */
  readonly retryable: boolean;
  /** How long the provider asked to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(model: string, cause: unknown) {
    super(`Model "${model}" failed: ${describeError(cause)}`, { cause });
    const hints = (cause ?? {}) as ModelFailureHints;
    this.model = model;
    this.status = typeof hints.status === 'number' ? hints.status : undefined;
    this.retryAfterMs = typeof hints.retryAfterMs === 'number' ? hints.retryAfterMs : undefined;
    this.retryable = typeof hints.retryable === 'boolean' ? hints.retryable : isRetryableStatus(this.status);
  }
}

/** What a thrown value may carry for {@link ModelError} to keep. */
export interface ModelFailureHints {
  readonly status?: number | undefined;
  readonly retryable?: boolean | undefined;
  readonly retryAfterMs?: number | undefined;
}

/** The model resolved with something that is no response. Becomes the cause of a {@link ModelError}. */
export class ResponseInvalidError extends KeelsonError {
  readonly code = 'ERR_RESPONSE_INVALID';
  readonly retryable = false;
  /** What the model resolved with. */
  readonly response: unknown;

  constructor(problem: string, response: unknown) {
    super(`The response is not valid: ${problem}`);
    this.response = response;
  }
}

function isRetryableStatus(status: number | undefined): boolean {
  return status !== undefined && (status === 408 || status === 409 || status === 429 || status >= 500);
}
