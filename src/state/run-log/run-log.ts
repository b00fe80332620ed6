import { KeelsonError } from '../../errors.js';
import type { JsonValue } from '../../internal/json.js';
import type { Awaitable } from '../../internal/promise.js';

/**
 * How a run ended. `suspended` means that it waits for a decision. `lost` means that another run took over its session,
 * for example after a crash.
 */
export type RunOutcome = 'done' | 'failed' | 'stopped' | 'suspended' | 'lost';

/** An event of a run, and its offset in the log of the run. The first event has offset 0, the next one 1. */
export interface LoggedEvent {
  readonly offset: number;
  readonly event: JsonValue;
}

/** The result of `RunLog.append`. */
export interface RunLogAnswer {
  /** True if the log has the appended events, from this call or from an earlier identical call. */
  readonly appended: boolean;
  /** The offset that the next event gets. 0 for an unknown run. */
  readonly end: number;
  /**
   * Milliseconds since a reader last called `touch`, or since the first append. Shows the writer whether anybody reads
   * the log. 0 for an unknown run.
   */
  readonly unwatchedMs: number;
  /**
   * How the run ended, if the log is closed. The writer must then stop, because a closed log takes no events. Undefined
   * while the log is open.
   */
  readonly outcome?: RunOutcome | undefined;
}

/** How often a reader calls `touch` to show that it still reads, in milliseconds. */
export const TOUCH_MS = 15_000;

/** The number of events to read, and the time to wait for them. */
export interface RunLogQuery {
  /** The largest number of events on the page. Default: 1,000. */
  readonly limit?: number | undefined;
  /** Milliseconds to wait for a new event if the log is open and has no event at the requested offset. Default: 0. */
  readonly waitMs?: number | undefined;
  /** Ends the wait for a new event when aborted. The read then returns a page without events. */
  readonly signal?: AbortSignal | undefined;
}

/** Consecutive events of a log. To get the next page, read from the offset after the last event. */
export interface RunLogPage {
  /** The events from the requested offset on. Empty if the log has none yet. */
  readonly events: readonly LoggedEvent[];
  /** The offset that the next new event of the log gets. */
  readonly end: number;
  /** How the run ended, if its log is closed. Set only if `events` reaches the end of the log. */
  readonly outcome?: RunOutcome | undefined;
}

/**
 * Stores the events of runs, so that any process can follow a run while it works and for some time after. A lost log
 * loses no message, because the session store holds the conversation.
 *
 * One writer adds events and counts the offsets. Any process may read from any offset, and may close the log of a run
 * that has disappeared. Each method is one atomic step. Events are JSON. An invalid surrogate in a string becomes
 * U+FFFD.
 *
 * A log has a largest size in bytes. Above this size its oldest events are deleted, but never the newest one. A log
 * expires some time after its last append or its close.
 */
export interface RunLog {
  /**
   * Adds events to the log. The first of them gets the offset `first`. An append at offset 0 creates the log. A closed
   * log takes no new events.
   *
   * A writer may repeat an append: events that the log already has are compared, and only the others are added. The
   * append is refused if an event differs, or if `first` is after the end of the log. An append without events restarts
   * the lifetime, and returns the state of the log.
   */
  append(run: string, first: number, events: readonly JsonValue[]): Awaitable<RunLogAnswer>;
  /**
   * Returns the events from the offset `from` on. With `waitMs`, waits if the log has no such event yet. Returns
   * undefined at once for an unknown run. Rejects with a RunLogGoneError if the event at `from` was deleted.
   */
  read(run: string, from: number, query?: RunLogQuery): Awaitable<RunLogPage | undefined>;
  /** Tells the writer that somebody still reads the log. Does nothing for an unknown run. */
  touch(run: string): Awaitable<void>;
  /**
   * Closes the log with this outcome. If the log is already closed, keeps and returns the first outcome. For an unknown
   * run, creates a closed log, so that a late writer is refused.
   */
  close(run: string, outcome: RunOutcome): Awaitable<RunOutcome>;
  /** Deletes the log. The run is unknown afterwards. */
  delete(run: string): Awaitable<void>;
}

/**
 * The event at the requested offset was deleted, because the log of the run became too large. Events from the offset
 * `first` on can be read.
 */
export class RunLogGoneError extends KeelsonError {
  readonly code = 'ERR_RUN_LOG_GONE';
  readonly run: string;
  /** The offset from which the reader wanted to read. */
  readonly from: number;
  /** The offset of the oldest event that the log still has. */
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
