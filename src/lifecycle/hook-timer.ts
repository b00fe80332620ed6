import type { Clock } from '../internal/clock.js';

/** A time limit that can be paused. A wrap hook pauses it while `next` runs, so that only its own time counts. */
export class HookTimer {
  private startedAt = 0;
  private handle: unknown = undefined;
  /** Counts the nested pauses. The timer is created paused, and its constructor resumes it. */
  private pauses = 1;

  constructor(
    private readonly clock: Clock,
    private remainingMs: number,
    private readonly onExpire: () => void,
  ) {
    this.resume();
  }

  /** Pauses the time limit. Each `pause` needs its own `resume`. */
  pause(): void {
    this.pauses += 1;
    if (this.pauses > 1) return;
    this.clock.clearTimeout(this.handle);
    this.remainingMs -= Math.max(0, this.clock.now() - this.startedAt);
  }

  resume(): void {
    this.pauses -= 1;
    if (this.pauses > 0) return;
    this.startedAt = this.clock.now();
    this.handle = this.clock.setTimeout(this.onExpire, Math.max(0, this.remainingMs));
  }

  /** Ends the time limit. Later calls of `resume` do not restart it. */
  clear(): void {
    this.pauses = Number.POSITIVE_INFINITY;
    this.clock.clearTimeout(this.handle);
  }
}
