import type { Clock } from '../../internal/clock.js';
import { createDeferred } from '../../internal/promise.js';
import { onAbort } from '../../internal/stop.js';

/** Time limit and abort signal of one wait in a `ProcessQueue`. */
export interface QueueWait {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly clock: Clock;
}

/** The outcome of a wait. */
export interface QueueEnd {
  /** `entered` means that a process may start. */
  readonly type: 'entered' | 'late' | 'aborted';
  /** Milliseconds that the caller waited; 0 if a process could start at once. */
  readonly waitedMs: number;
}

const DEFAULT_MOST = 16;

/** The queue of each agent or runtime. The key is the signal of the host of its loaders. */
const queues = new WeakMap<AbortSignal, ProcessQueue>();

/** Limits how many hook processes run at once. Waiting hooks enter in the order in which they arrived. */
export class ProcessQueue {
  /** True once the runtime of the loaders is closed. No further hook starts then. */
  isClosed = false;
  private running = 0;
  private readonly waiting = new Set<() => void>();
  private limit: number | undefined = undefined;

  /** Returns the queue that all loaders of one host share. */
  static of(host: AbortSignal): ProcessQueue {
    const queue = queues.get(host) ?? new ProcessQueue();
    queues.set(host, queue);
    return queue;
  }

  get most(): number {
    return this.limit ?? DEFAULT_MOST;
  }

  /** Sets the limit. If several loaders set one, the smallest counts. */
  limitTo(most: number | undefined): this {
    if (most !== undefined) this.limit = Math.min(most, this.limit ?? most);
    return this;
  }

  /**
   * Waits until fewer than `most` processes run. Resolves with the type `late` after the time limit. A caller that entered must
   * call `leave`.
   */
  async enter({ timeoutMs, signal, clock }: QueueWait): Promise<QueueEnd> {
    if (signal?.aborted) return { type: 'aborted', waitedMs: 0 };
    if (this.running < this.most) {
      this.running += 1;
      return { type: 'entered', waitedMs: 0 };
    }
    const { promise, resolve } = createDeferred<QueueEnd['type']>();
    const startedAt = clock.now();
    const finish = (end: QueueEnd['type']) => {
      // The entry is deleted at once, so that `leave` cannot choose a hook that has stopped waiting.
      if (this.waiting.delete(start)) resolve(end);
    };
    const start = () => finish('entered');
    const abort = () => finish('aborted');
    const timer = clock.setTimeout(() => finish('late'), timeoutMs);
    const forget = onAbort(signal, abort);
    this.waiting.add(start);
    const type = await promise;
    clock.clearTimeout(timer);
    forget();
    return { type, waitedMs: Math.max(1, clock.now() - startedAt) };
  }

  /** Lets the next waiting hook start. */
  leave(): void {
    const [next] = this.waiting;
    // A hook that starts now takes over the count of the hook that ended.
    if (next === undefined || this.running > this.most) this.running -= 1;
    else next();
  }
}
