import type { Clock } from '../../internal/clock.js';
import { createDeferred, type Deferred } from '../../internal/promise.js';
import type { McpSettings } from '../config/settings.js';

/** Schedules the next connection attempt. All requests that need a connection wait for the same attempt. */
export class Backoff {
  private failures = 0;
  private waiting: { readonly timer: unknown; readonly over: Deferred<void> } | undefined = undefined;

  constructor(
    private readonly options: McpSettings['reconnect'],
    private readonly clock: Clock,
  ) {}

  /** Settles when the scheduled attempt has ended or was cancelled. Undefined if no attempt is scheduled. */
  get next(): Promise<void> | undefined {
    return this.waiting?.over.promise;
  }

  /** Runs `work` after a delay. Returns false if too many attempts have failed in a row. */
  schedule(work: () => Promise<void>): boolean {
    this.cancel();
    if (this.failures >= this.options.attempts) return false;
    const over = createDeferred<void>();
    const timer = this.clock.setTimeout(() => {
      this.waiting = undefined;
      void work().finally(over.resolve);
    }, this.delay());
    // This timer alone must not keep the process running.
    (timer as { unref?: () => void } | undefined)?.unref?.();
    this.waiting = { timer, over };
    this.failures += 1;
    return true;
  }

  cancel(): void {
    if (this.waiting === undefined) return;
    this.clock.clearTimeout(this.waiting.timer);
    this.waiting.over.resolve();
    this.waiting = undefined;
  }

  /** Clears the number of failures, so that the next delay is the shortest one again. */
  reset(): void {
    this.failures = 0;
  }

  /** Half of the delay is random, so that many clients of one server do not reconnect at the same time. */
  private delay(): number {
    const { initialMs, maxMs } = this.options;
    const full = Math.min(maxMs, initialMs * 2 ** Math.min(this.failures, 30));
    return full / 2 + (Math.random() * full) / 2;
  }
}
