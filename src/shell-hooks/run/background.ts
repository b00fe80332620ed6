import { type Clock, withinMs } from '../../internal/clock.js';

/** Time for a hook to end by itself when its loader is closed. */
const WAIT_MS = 2_000;
/** A hook that is aborted ends within this time, unless it waits for an approval. */
const ABORT_MS = 2_500;

/** The running hooks that no event waits for. */
export class BackgroundHooks {
  /** For each hook, by the promise of its end, the controller that aborts it. */
  private readonly running = new Map<Promise<void>, AbortController>();

  add(ended: Promise<void>, life: AbortController): void {
    this.running.set(ended, life);
    void ended.finally(() => this.running.delete(ended));
  }

  /** Waits two seconds for the hooks, and then aborts the hooks that still run. */
  async close(clock: Clock): Promise<void> {
    if (this.running.size === 0) return;
    const ended = Promise.all(this.running.keys());
    await withinMs(ended, WAIT_MS, clock);
    for (const life of this.running.values()) life.abort();
    await withinMs(ended, ABORT_MS, clock);
  }
}
