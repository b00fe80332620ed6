import type { Clock } from '../../internal/clock.js';
import { createDeferred, type Deferred } from '../../internal/promise.js';
import { Stop } from '../../internal/stop.js';
import type { McpSettings } from '../config/settings.js';

/** The attempts to connect to one server. At most one attempt runs, and at most one is scheduled after a failure. */
export class Attempts {
  running: Promise<void> | undefined = undefined;
  /** Number of failed attempts in a row. Each one makes the next delay longer. */
  failures = 0;
  /** The time of the last attempt that succeeded. */
  connectedAt = 0;
  /** When stopped, the attempt that runs ends at once, and no further attempt is made. */
  readonly closing = new Stop();
  private scheduled: { readonly timer: unknown; readonly over: Deferred<void> } | undefined = undefined;

  constructor(
    private readonly options: McpSettings['reconnect'],
    private readonly clock: Clock,
  ) {}

  /** Settles when the attempt that runs or is scheduled has ended. Undefined while no attempt runs or waits. */
  get next(): Promise<void> | undefined {
    return this.running ?? this.scheduled?.over.promise;
  }

  /** Runs an attempt until it ends or is stopped. Never rejects. */
  run(work: () => Promise<void>): Promise<void> {
    const attempt = this.closing
      .race(work())
      .catch(() => {})
      .finally(() => {
        if (this.running === attempt) this.running = undefined;
      });
    this.running = attempt;
    return attempt;
  }

  /** Calls `work` after a delay. Returns false if too many attempts have failed in a row. */
  schedule(work: () => Promise<void>): boolean {
    this.cancel();
    const { initialDelayMs, maxDelayMs, maxRetries } = this.options;
    if (this.failures >= maxRetries) return false;
    const over = createDeferred<void>();
    const fullMs = Math.min(maxDelayMs, initialDelayMs * 2 ** this.failures);
    // Half of the delay is random, so that many clients of one server do not reconnect at the same time.
    const delayMs = fullMs / 2 + (Math.random() * fullMs) / 2;
    const timer = this.clock.setTimeout(() => {
      this.scheduled = undefined;
      void work().finally(over.resolve);
    }, delayMs);
    // This timer alone must not keep the process running.
    (timer as { unref?: () => void } | undefined)?.unref?.();
    this.scheduled = { timer, over };
    this.failures += 1;
    return true;
  }

  cancel(): void {
    if (this.scheduled === undefined) return;
    this.clock.clearTimeout(this.scheduled.timer);
    this.scheduled.over.resolve();
    this.scheduled = undefined;
  }
}
