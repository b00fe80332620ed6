import { KeelsonError } from '../../errors.js';
import type { JsonValue } from '../../internal/json.js';
import type { Awaitable } from '../../internal/promise.js';

/** How a run ended. A run is `lost` if another one took over its claim, such as after a crash. */
export type RunOutcome = 'done' | 'failed' | 'stopped' | 'suspended' | 'lost';

/** An event of a run, with its offset in the log. The first event has the offset 0, and no offset is left out. */
export interface LoggedEvent {
  readonly offset: number;
  readonly event: JsonValue;
}

/** The answer to an append. */
export interface RunLogAnswer {
  /** True if the events of the append were added, by this call or by an earlier one. */
  readonly appended: boolean;
  /** The offset of the next event. 0 for an unknown run. */
  readonly end: number;
  /** Milliseconds since the last touch, or since the first append. 0 for an unknown run. */
  readonly unwatchedMs: number;
  /** How the log was closed. Its writer then stops. Undefined while the log is open. */
  readonly outcome?: RunOutcome | undefined;
}

/** How often a reader touches the log, in milliseconds. */
export const TOUCH_MS = 15_000;

/** The number of events to read, and how long to wait for them. */
export interface RunLogQuery {
  /** The largest number of events. Default: 1,000. */
  readonly limit?: number | undefined;
  /** How long to wait in milliseconds if the log has no events from the offset on, and is open. Default: 0. */
  readonly waitMs?: number | undefined;
  /** Ends the wait. The read then returns a page without events. */
  readonly signal?: AbortSignal | undefined;
}

/** A part of a log. Read on from the offset after its last event. */
export interface RunLogPage {
  /** Empty if the log has no events from the offset on. */
  readonly events: readonly LoggedEvent[];
  /** The offset of the next event that the writer adds. */
  readonly end: number;
  /** How the log was closed. Only the page that reaches the end has it, so no events follow. */
  readonly outcome?: RunOutcome | undefined;
}

/**
 * Keeps the events of runs for readers in any process, while a run works and for some time after it. It is not the record
 * of a conversation, so nothing that was said is lost with a log.
 *
 * One writer adds events and counts the offsets. Anybody may read from any offset, and close the log of a run that is gone.
 * Each method is one atomic step. Events are JSON. A lone surrogate in a string becomes U+FFFD.
 *
 * A log has a largest size in bytes, beyond which its oldest events go, but never the newest one. It expires after its last
 * append or its close, and then its run is unknown.
 */
export interface RunLog {
  /**
   * Adds events from the offset `first` on. Refused unless `first` is the end. The append with the offset 0 makes the log.
   * A closed log refuses events.
   *
   * Events that the log has already count as added if they are the same, so a writer without an answer can ask again. An
   * append without events restarts the lifetime, and tells how the log stands.
   */
  append(run: string, first: number, events: readonly JsonValue[]): Awaitable<RunLogAnswer>;
  /**
   * Returns the events from the offset `from` on. With `waitMs`, waits for the first one. Returns undefined for an unknown
   * run, also with `waitMs`. Rejects with a RunLogGoneError if the event at `from` is gone.
   */
  read(run: string, from: number, query?: RunLogQuery): Awaitable<RunLogPage | undefined>;
  /** Tells the writer that a reader is there. Does nothing for an unknown run. */
  touch(run: string): Awaitable<void>;
  /**
   * Closes the log, and returns the outcome that holds: the one of the first close. For an unknown run, it makes a closed
   * log, so that a late writer is refused.
   */
  close(run: string, outcome: RunOutcome): Awaitable<RunOutcome>;
  /** Deletes the log, whose run is then unknown. */
  delete(run: string): Awaitable<void>;
}

/** The log of a run no longer has the event at an offset. The events from `first` on can be read. */
export class RunLogGoneError extends KeelsonError {
  readonly code = 'ERR_RUN_LOG_GONE';
  readonly run: string;
  /** The offset from which the log was to be read. */
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
