import { RunAbortedError } from '../../lifecycle/run-failure.js';
import type { RunError } from '../../model/run-error.js';
import type { RunListeners } from '../listeners.js';
import type { Conversation } from './conversation.js';

/** Thrown by the wait for a model call, to abandon the call because of an urgent message. */
export const STEERED = Symbol('steered');

/** A run that messages of callers can join. */
export interface JoinedRun {
  readonly context: { readonly id: string; readonly turn: number };
  readonly conversation: Conversation;
  readonly listeners: RunListeners;
  /** The final answer, once the model has given one. */
  answer: string | undefined;
  /** Adds the new messages to the record of the session. */
  save(): Promise<void> | undefined;
}

/** A run that a stop request of a caller can end. */
export interface StoppedRun {
  abort(error: RunError): void;
  /** Cancels the tool call at a path. Returns false if no such call is running. */
  cancel(path: readonly string[], reason: string | undefined): boolean;
}

/** The messages and stop requests that callers send to a session while it runs. Implemented by a session. */
export interface RunPosts {
  /** The number of model calls that were abandoned because of an urgent message. They do not count as turns. */
  steers: number;
  /** Connects the run, which is aborted if another run takes over the conversation, or if a caller stops it. */
  bind(run: StoppedRun): void;
  /** True if a message with `when: 'now'` waits. Such a message abandons the running model call. */
  readonly isUrgent: boolean;
  /** Calls `listener` when an urgent message arrives. Returns a function that removes the listener. */
  onUrgent(listener: () => void): () => void;
  /** Settles as the model call does, or rejects with `STEERED` if an urgent message arrives first. */
  untilSteered<T>(asking: PromiseLike<T>): Promise<T>;
  /** Adds the messages that were sent before the run began. The next save stores them. */
  joinAtStart(run: JoinedRun): void;
  /**
   * Adds the waiting messages to the run. Returns undefined if none wait. A run that already has its answer continues
   * with another turn.
   *
   * With `isLast`, no turn is left: the run keeps its answer, and the messages wait for the next run.
   */
  join(run: JoinedRun, isLast: boolean): Promise<void> | undefined;
}

/** Returns the error of a run that a caller stopped. */
export function stoppedError(reason = 'the answer was stopped'): RunAbortedError {
  return new RunAbortedError(reason);
}
