import { RunAbortedError } from '../../lifecycle/run-failure.js';
import type { RunError } from '../../model/run-error.js';
import type { RunListeners } from '../listeners.js';
import type { Conversation } from './conversation.js';

/** Thrown instead of a response if a message must not wait for the model. */
export const STEERED = Symbol('steered');

/** A run that can take further messages. */
export interface JoinedRun {
  readonly context: { readonly id: string; readonly turn: number };
  readonly conversation: Conversation;
  readonly listeners: RunListeners;
  /** The final answer, once the model has given one. */
  answer: string | undefined;
  /** Adds the new messages to the record of the session. */
  save(): Promise<void> | undefined;
}

/** A run that a posted stop can end. */
export interface StoppedRun {
  abort(error: RunError): void;
  /** Cancels the tool call at a path. Returns false if no such call is running. */
  cancel(path: readonly string[], reason: string | undefined): boolean;
}

/** The messages and stops that callers send to a session while it runs. Implemented by a session. */
export interface RunPosts {
  /** The number of model calls that were abandoned because of an urgent message. They do not count as turns. */
  steers: number;
  /** Connects the run, which is aborted if another run takes over the conversation, or if a caller stops it. */
  bind(run: StoppedRun): void;
  /** True if an urgent message waits, which does not wait for the end of a model call. */
  readonly isUrgent: boolean;
  /** Calls `listener` when an urgent message arrives. Returns a function that removes the listener. */
  onUrgent(listener: () => void): () => void;
  /** Settles as the model call does, or rejects with `STEERED` if an urgent message arrives first. */
  untilSteered<T>(asking: PromiseLike<T>): Promise<T>;
  /** Adds the messages that were sent before the run began. The next save stores them. */
  joinAtStart(run: JoinedRun): void;
  /**
   * Adds the waiting messages. Returns undefined without any. If the run has an answer, it continues, and the answer is
   * not its last.
   *
   * With `isLast`, the messages wait for the next run, because no turn is left.
   */
  join(run: JoinedRun, isLast: boolean): Promise<void> | undefined;
}

/** Returns the error of a run that a caller stopped. */
export function stoppedError(reason = 'the answer was stopped'): RunAbortedError {
  return new RunAbortedError(reason);
}
