import { KeelsonError } from '../../errors.js';
import type { JsonValue } from '../../internal/json.js';
import type { Awaitable } from '../../internal/promise.js';

/** How a run ended. A run is `lost` if another run took over its claim, such as after a crash. */
export type RunOutcome = 'done' | 'failed' | 'stopped' | 'suspended' | 'lost';

/** An event of a run with its offset in the log. Offsets count from 0 without gaps. */
export interface LoggedEvent {
  readonly offset: number;
  readonly event: JsonValue;
}

/** The answer to an append. */
export interface RunLogAnswer {
  /** True if the log has the events of the append, from this call or an earlier one. */
  readonly appended: boolean;
  /** The offset of the next event. 0 for an unknown run. */
  readonly end: number;
  /** Milliseconds since a reader last touched the log, or since the first append. 0 for an unknown run. */
  readonly unwatchedMs: number;
  /** How the run of a closed log ended. Its writer stops then. Undefined while the log is open. */
  readonly outcome?: RunOutcome | undefined;
}

/** How often a reader touches the log, in milliseconds. */
export const TOUCH_MS = 15_000;

/** The number of events to read, and the time to wait for them. */
export interface RunLogQuery {
  /** The largest number of events. Default: 1,000. */
  readonly limit?: number | undefined;
  /** Milliseconds to wait if an open log has no event from the offset on. Default: 0. */
  readonly waitMs?: number | undefined;
  /** Ends the wait when aborted. The read then returns a page without events. */
  readonly signal?: AbortSignal | undefined;
}

/** A part of a log. Read the next part from the offset after the last event. */
export interface RunLogPage {
  /** Empty if the log has no events from the offset on. */
  readonly events: readonly LoggedEvent[];
  /** The offset of the next event that the writer adds. */
  readonly end: number;
  /** How the run ended, if the log is closed. Set only on the page that reaches the end. */
  readonly outcome?: RunOutcome | undefined;
}

/**
 * Keeps the events of runs for readers in any process, during a run and for some time after it. The log is not the
 * record of a conversation, so losing a log loses no message.
 *
 * One writer adds events and counts the offsets. Any process may read from any offset, and may close the log of a run
 * that is gone. Each method is one atomic step. Events are JSON. A lone surrogate in a string becomes U+FFFD.
 *
 * A log has a largest size in bytes. Above this size its oldest events are deleted, but never the newest one. A log
 * expires some time after its last append or its close.
 */
export interface RunLog {
  /**
   * Adds events to the log, the first of them at the offset `first`. An append at offset 0 creates the log. A closed
   * log takes no new events.
   *
   * A writer may repeat an append: events that the log already has are compared, and only the others are added. The
   * append is refused if an event differs, or if `first` is after the end of the log. An append without events restarts
   * the lifetime, and returns the state of the log.
   */
  append(run: string, first: number, events: readonly JsonValue[]): Awaitable<RunLogAnswer>;
  /**
   * Returns the events from the offset `from` on. With `waitMs`, waits for the first event. Returns undefined at once
   * for an unknown run. Rejects with a RunLogGoneError if the event at `from` was deleted.
   */
  read(run: string, from: number, query?: RunLogQuery): Awaitable<RunLogPage | undefined>;
  /** Tells the writer that the log has a reader. Does nothing for an unknown run. */
  touch(run: string): Awaitable<void>;
  /**
   * Closes the log and returns the outcome of the first close. For an unknown run, creates a closed log, so that a late
   * writer is refused.
   */
  close(run: string, outcome: RunOutcome): Awaitable<RunOutcome>;
  /** Deletes the log. The run is unknown afterwards. */
  delete(run: string): Awaitable<void>;
}

/** The log of a run no longer has the event at an offset. Events from the offset `first` on can be read. */
export class RunLogGoneError extends KeelsonError {
  readonly code = 'ERR_RUN_LOG_GONE';
  readonly run: string;
  /** The requested offset. */
  readonly from: number;
  /** The offset of the oldest event that is left. */
  readonly first: number;

  constructor(run: string, from: number, first: number) {
    super(
      `The log of run "${run}" begins at offset ${first}, so it cannot be read from ${from}. Read from ${first} on; earlier messages are in the session.`,
    );
    this.run = run;
    this.from = from;
    this.first = first;
  }
}
