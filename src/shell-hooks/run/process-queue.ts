import type { Clock } from '../../internal/clock.js';
import { createDeferred } from '../../internal/promise.js';

/** Time limit and abort signal of one wait in a `ProcessQueue`. */
export interface QueueWait {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** End of a wait. */
export interface QueueEnd {
  /** `entered` means that a process may start. */
  readonly type: 'entered' | 'late' | 'aborted';
  /** 0 if the caller did not have to wait. */
  readonly waitedMs: number;
}

/** Limits how many hook processes run at once. Waiting hooks enter in the order in which they arrived. */
export class ProcessQueue {
  private running = 0;
  private readonly waiting = new Set<() => void>();

  constructor(
    private readonly most: number,
    private readonly clock: Clock,
  ) {}

  /**
   * Waits until fewer than `most` processes run. Resolves with the type `late` after the time limit. A caller that entered must
   * call `leave`.
   */
  async enter({ timeoutMs, signal }: QueueWait): Promise<QueueEnd> {
    if (signal?.aborted) return { type: 'aborted', waitedMs: 0 };
    if (this.running < this.most) {
      this.running += 1;
      return { type: 'entered', waitedMs: 0 };
    }
    const { promise, resolve } = createDeferred<QueueEnd['type']>();
    const startedAt = this.clock.now();
    const finish = (end: QueueEnd['type']) => {
      // Deleted in the same step, so that `leave` cannot choose a hook that has stopped waiting.
      if (this.waiting.delete(start)) resolve(end);
    };
    const start = () => finish('entered');
    const abort = () => finish('aborted');
    const timer = this.clock.setTimeout(() => finish('late'), timeoutMs);
    signal?.addEventListener('abort', abort, { once: true });
    this.waiting.add(start);
    const type = await promise;
    this.clock.clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    return { type, waitedMs: Math.max(1, this.clock.now() - startedAt) };
  }

  /** Lets the next waiting hook start. */
  leave(): void {
    const [next] = this.waiting;
    // A hook that starts now takes over the count of the hook that ended.
    if (next === undefined) this.running -= 1;
    else next();
  }
}
