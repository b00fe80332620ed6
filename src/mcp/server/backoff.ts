import type { Clock } from '../../internal/clock.js';
import { createDeferred, type Deferred } from '../../internal/promise.js';
import type { McpSettings } from '../config/settings.js';

/** The next attempt, which everybody who needs it waits for together. */
export class Backoff {
  private failures = 0;
  private waiting: { readonly timer: unknown; readonly over: Deferred<void> } | undefined = undefined;

  constructor(
    private readonly options: McpSettings['reconnect'],
    private readonly clock: Clock,
  ) {}

  /** Settles when the attempt that is being waited for is over, or put off. Undefined where there is none. */
  get next(): Promise<void> | undefined {
    return this.waiting?.over.promise;
  }

  /** Does the work after a while. False where it was tried often enough. */
  schedule(work: () => Promise<void>): boolean {
    this.cancel();
    if (this.failures >= this.options.attempts) return false;
    const over = createDeferred<void>();
    const timer = this.clock.setTimeout(() => {
      this.waiting = undefined;
      void work().finally(over.resolve);
    }, this.delay());
    // Nobody has to be kept running for it.
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

  /** The connection has proved good: the next loss is a first one. */
  reset(): void {
    this.failures = 0;
  }

  /** Half of it is chance, so that many clients of one server do not come back at once. */
  private delay(): number {
    const { initialMs, maxMs } = this.options;
    const full = Math.min(maxMs, initialMs * 2 ** Math.min(this.failures, 30));
    return full / 2 + (Math.random() * full) / 2;
  }
}
