import type { Clock } from '../../internal/clock.js';
import { createDeferred, type Deferred } from '../../internal/promise.js';
import { Stop } from '../../internal/stop.js';
import type { McpSettings } from '../config/settings.js';
import type { McpUnavailableError } from '../error.js';

/** After a connection that lasted this many milliseconds, the number of failures starts at 0 again. */
const GOOD_MS = 5_000;

/** The attempts to connect to one server: the one that runs, and the one that is scheduled after a failure. */
export class Attempts {
  /** The attempt that runs. All callers share it. */
  running: Promise<void> | undefined = undefined;
  private scheduled: { readonly timer: unknown; readonly over: Deferred<void> } | undefined = undefined;
  /** Failed attempts in a row. With 0, the next delay is the shortest one again. */
  failures = 0;
  private connectedAt = 0;
  private readonly closing = new Stop();

  constructor(
    private readonly options: McpSettings['reconnect'],
    private readonly clock: Clock,
  ) {}

  get closed(): AbortSignal {
    return this.closing.signal;
  }

  /** Settles when the attempt that runs or is scheduled has ended. Undefined while no attempt runs or waits. */
  get next(): Promise<void> | undefined {
    return this.running ?? this.scheduled?.over.promise;
  }

  /** Runs an attempt until it ends or `close` is called. Never rejects. */
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
    if (this.failures >= this.options.attempts) return false;
    const over = createDeferred<void>();
    const timer = this.clock.setTimeout(() => {
      this.scheduled = undefined;
      void work().finally(over.resolve);
    }, this.delay());
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

  succeeded(): void {
    this.connectedAt = this.clock.now();
  }

  lost(): void {
    if (this.clock.now() - this.connectedAt >= GOOD_MS) this.failures = 0;
  }

  /** Cancels all attempts. The one that runs ends at once. */
  close(reason: McpUnavailableError): void {
    this.cancel();
    this.closing.stop(reason);
  }

  /** Half of the delay is random, so that many clients of one server do not reconnect at the same time. */
  private delay(): number {
    const { initialMs, maxMs } = this.options;
    const full = Math.min(maxMs, initialMs * 2 ** Math.min(this.failures, 30));
    return full / 2 + (Math.random() * full) / 2;
  }
}
