import { describeError, hideMembers, KeelsonError, type KeelsonErrorOptions } from '../errors.js';
import type { Message } from './message.js';
import type { Usage } from './model.js';

/** The state of a run when it failed. Every tool call in `messages` has its result. */
export interface RunErrorState {
  /** The messages that the run added, the user message first. */
  readonly messages: readonly Message[];
  /** All messages at the end, from which a new run can continue. */
  readonly history: readonly Message[];
  readonly usage: Usage;
  /** The ids of the enclosing tool calls, outermost first. Undefined for an outermost run. */
  readonly path?: readonly string[] | undefined;
}

/**
 * An error that ended a run. Has the messages and the usage of the run until the failure. `messages` and `history` are
 * not enumerable, so that `console.error` and `JSON.stringify` do not show the conversation.
 */
export abstract class RunError extends KeelsonError implements RunErrorState {
  messages: readonly Message[] = [];
  history: readonly Message[] = [];
  usage: Usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

  declare path?: readonly string[] | undefined;

  constructor(message: string, options?: KeelsonErrorOptions) {
    super(message, options);
    hideMembers(this, 'messages', 'history');
  }

  /** Sets the state of the run. Called at the end of the run, when every tool call has a result. */
  attach(state: RunErrorState): this {
    this.messages = state.messages;
    this.history = state.history;
    this.usage = state.usage;
    // If a hook rethrows the error of a nested run, the outer run fails with the same error object.
    if (state.path !== this.path) this.path = state.path;
    return this;
  }
}

/**
 * The reason why a model call failed. docs/errors.md describes each kind, and what the ready-made lifecycles do with
 * it.
 */
export type ModelErrorKind =
  | 'context-overflow'
  | 'rate-limit'
  | 'quota'
  | 'overloaded'
  | 'content-filter'
  | 'auth'
  | 'invalid-request'
  | 'tool-format'
  | 'empty'
  | 'network'
  | 'unknown';

/** The model call failed, or resolved with an invalid response. `cause` is the error that the model threw. */
export class ModelError extends RunError {
  readonly code = 'ERR_MODEL_FAILED';
  /** The model's id. */
  readonly model: string;
  /**
   * The kind of the model's error. If it has no kind, derived from its status 401, 403, 429 or 5xx, or else `unknown`.
   */
  readonly kind: ModelErrorKind;
  /** The HTTP status code, if the model's error had a numeric `status`. */
  readonly status: number | undefined;
  /** True if the same call may succeed later: status 408, 409, 429 or 5xx, a lost connection or a timeout. */
  readonly retryable: boolean;
  /** The delay that the provider asked for, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(model: string, cause: unknown) {
    super(`Model "${model}" failed: ${describeCause(cause)}`, { cause });
    // `console.error` does not call a getter. A thrown object that is not an Error may contain the whole request.
    if (!(cause instanceof Error)) Object.defineProperty(this, 'cause', { get: () => cause });
    const hints = (cause ?? {}) as ModelFailureHints;
    this.model = model;
    this.status = typeof hints.status === 'number' ? hints.status : undefined;
    this.retryAfterMs = typeof hints.retryAfterMs === 'number' ? hints.retryAfterMs : undefined;
    this.retryable = typeof hints.retryable === 'boolean' ? hints.retryable : isRetryableStatus(this.status);
    this.kind = hints.kind ?? kindOfStatus(this.status ?? 0);
  }
}

/** Properties of a thrown error that {@link ModelError} keeps. */
export interface ModelFailureHints {
  readonly kind?: ModelErrorKind | undefined;
  readonly status?: number | undefined;
  readonly retryable?: boolean | undefined;
  readonly retryAfterMs?: number | undefined;
}

/** The model resolved with an invalid response. Becomes the cause of a {@link ModelError}. */
export class ResponseInvalidError extends KeelsonError {
  readonly code = 'ERR_RESPONSE_INVALID';
  readonly retryable = false;
  /** The value that the model resolved with. Not enumerable, so logs do not show it. */
  readonly response: unknown;

  constructor(
    problem: string,
    response: unknown,
    /** The kind of the ModelError that gets this error as its cause. */
    readonly kind?: ModelErrorKind,
  ) {
    super(`The response is invalid: ${problem}`);
    this.response = response;
    hideMembers(this, 'response');
  }
}

function kindOfStatus(status: number): ModelErrorKind {
  if (status === 401 || status === 403) return 'auth';
  if (status === 429) return 'rate-limit';
  return status >= 500 ? 'overloaded' : 'unknown';
}

function isRetryableStatus(status: number | undefined): boolean {
  return status !== undefined && (status === 408 || status === 409 || status === 429 || status >= 500);
}

/** Describes a value that a model threw. Uses only its message, because other members may contain the conversation. */
function describeCause(cause: unknown): string {
  const { message, name, errors } = Object(cause);
  const isOpaque = Object(cause) === cause && !message && !name && !errors;
  return isOpaque ? `an object with ${Object.keys(cause as object).join(', ')}` : describeError(cause);
}
