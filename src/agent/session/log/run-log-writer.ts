import type { Clock } from '../../../internal/clock.js';
import type { JsonValue } from '../../../internal/json.js';
import { type Logger, logFailure } from '../../../internal/logger.js';
import { RunAbortedError } from '../../../lifecycle/run-failure.js';
import { type Message, toolCallsOf } from '../../../model/message.js';
import type { RunLog, RunOutcome } from '../../../state/run-log/run-log.js';
import type { AgentEvent } from '../../agent-event.js';
import { eventToJson } from './event-json.js';

/** Milliseconds for which events are collected before they are appended together. */
const BATCH_MS = 50;

/** After this many failed appends in a row, the log ends and the run continues. */
const MAX_FAILURES = 3;

/** A run that writes its events to a log. */
export interface LoggedRun {
  readonly log: Pick<RunLog, 'append' | 'close'>;
  readonly runId: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Milliseconds that the run continues while nobody reads its log. */
  readonly orphanMs: number | undefined;
  /** Called once if another process has closed the log. */
  readonly onClosed: () => void;
}

/** Writes the events of a run to its log, in batches. A batch that fails is appended again with the next one. */
export class RunLogWriter {
  private waiting: JsonValue[] = [];
  private end = 0;
  private timer: unknown = undefined;
  private flushing: Promise<void> = Promise.resolve();
  private isOpen = true;
  /** The errors of the failed appends since the last success. */
  private failures: unknown[] = [];
  /** The latest time at which somebody read the log. */
  private watchedAt: number;

  constructor(private readonly run: LoggedRun) {
    this.watchedAt = run.clock.now();
  }

  add(event: AgentEvent): void {
    if (!this.isOpen) return;
    this.waiting.push(eventToJson(event));
    this.timer ??= this.run.clock.setTimeout(() => void this.flush(), BATCH_MS);
  }

  /**
   * Appends the waiting events. With `looks`, sends an empty append to learn when the log was last read. Never rejects.
   */
  flush(looks = false): Promise<void> {
    this.run.clock.clearTimeout(this.timer);
    this.timer = undefined;
    this.flushing = this.flushing.then(() => this.append(looks));
    return this.flushing;
  }

  /**
   * Throws a RunAbortedError if nobody has read the log for `orphanMs`. Skips the check right before tool calls, so
   * that a stopped run leaves no call without a result.
   */
  async checkWatched(last: Message | undefined): Promise<void> {
    if (last !== undefined && toolCallsOf(last).length > 0) return;
    const { clock, orphanMs = Number.POSITIVE_INFINITY } = this.run;
    const isOrphan = () => this.isOpen && this.failures.length === 0 && clock.now() - this.watchedAt >= orphanMs;
    if (!isOrphan()) return;
    // A reader may have come since the last append.
    await this.flush(true);
    if (isOrphan()) throw new RunAbortedError(`nobody has read the events of the run for ${orphanMs} ms`);
  }

  /** Appends the waiting events, and closes the log. Never rejects. */
  async close(outcome: RunOutcome): Promise<void> {
    const { log, runId } = this.run;
    await this.flush();
    if (!this.isOpen) return;
    if (this.failures.length > 0) return this.fail(this.failures[0]);
    this.isOpen = false;
    await Promise.resolve(log.close(runId, outcome)).catch((error) => this.fail(error));
  }

  private async append(looks: boolean): Promise<void> {
    const { log, runId, clock, onClosed } = this.run;
    const events = this.waiting;
    if ((events.length === 0 && !looks) || !this.isOpen) return;
    this.waiting = [];
    try {
      const { appended, outcome, unwatchedMs } = await log.append(runId, this.end, events);
      this.failures = [];
      this.watchedAt = clock.now() - unwatchedMs;
      this.end += events.length;
      if (appended && outcome === undefined) return;
      this.isOpen = false;
      if (outcome !== undefined) onClosed();
    } catch (error) {
      // Events that the log already has count as added.
      this.waiting = [...events, ...this.waiting];
      this.failures.push(error);
      if (this.failures.length === MAX_FAILURES) this.fail(error);
    }
  }

  private fail(error: unknown): void {
    this.isOpen = false;
    this.waiting = [];
    logFailure(
      this.run,
      `The events of run "${this.run.runId}" could not be logged. The run continues without its log.`,
      error,
    );
  }
}
