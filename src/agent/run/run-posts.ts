import { RunAbortedError } from '../../lifecycle/run-failure.js';
import type { RunError } from '../../model/run-error.js';
import type { RunListeners } from '../listeners.js';
import type { Conversation } from './conversation.js';

/** Thrown into the run loop in place of a response, if a message must not wait for the model. */
export const STEERED = Symbol('steered');

/** A run that messages join. */
export interface JoinedRun {
  readonly context: { readonly id: string; readonly turn: number };
  readonly conversation: Conversation;
  readonly listeners: RunListeners;
  /** The final answer, once the model has given one. */
  answer: string | undefined;
  /** Adds the new messages to the record of the session. */
  save(): Promise<void> | undefined;
}

/** A run that posts stop. */
export interface StoppedRun {
  abort(error: RunError): void;
  /** Cancels the tool call at a path. Returns false if no such call is running. */
  cancel(path: readonly string[], reason: string | undefined): boolean;
}

/** The messages and stops that others post while a run has its conversation. Implemented by a session. */
export interface RunPosts {
  /** The number of model calls that were abandoned for a message. They do not count as turns. */
  steers: number;
  /** The run is aborted if another run has taken over the conversation, or if somebody has posted a stop. */
  bind(run: StoppedRun): void;
  /** True if a message waits that must not wait for an answer to a question. */
  readonly isUrgent: boolean;
  /** Calls `listener` when such a message comes. Returns a function that ends this. */
  onUrgent(listener: () => void): () => void;
  /** Settles as the model call does, or rejects with `STEERED`. */
  untilSteered<T>(asking: PromiseLike<T>): Promise<T>;
  /** Adds the messages that were sent before the run began. The next save stores them. */
  joinAtStart(run: JoinedRun): void;
  /**
   * Adds the messages that wait. Returns undefined if none wait. Behind an answer, the run continues with them, and this answer
   * is not its last one. With `isLast`, no turn is left: then they wait for the next run.
   */
  join(run: JoinedRun, isLast: boolean): Promise<void> | undefined;
}

/** Returns the error of a run that somebody has stopped. */
export function stoppedError(reason = 'the answer was stopped'): RunAbortedError {
  return new RunAbortedError(reason);
}
