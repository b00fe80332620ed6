import type { Clock } from '../internal/clock.js';

/** A time limit whose clock can be stopped: the time of a wrap around `next`, without the time inside it. */
export class HookTimer {
  private remainingMs: number;
  private startedAt = 0;
  private handle: unknown = undefined;
  private pauses = 0;

  constructor(
    private readonly clock: Clock,
    timeoutMs: number,
    private readonly onExpire: () => void,
  ) {
    this.remainingMs = timeoutMs;
    this.start();
  }

  /** Stops the clock until as many calls of `resume` have come. */
  pause(): void {
    this.pauses += 1;
    if (this.pauses > 1) return;
    this.clock.clearTimeout(this.handle);
    this.remainingMs -= Math.max(0, this.clock.now() - this.startedAt);
  }

  resume(): void {
    this.pauses -= 1;
    if (this.pauses === 0) this.start();
  }

  /** Ends it for good. */
  clear(): void {
    this.pauses = Number.POSITIVE_INFINITY;
    this.clock.clearTimeout(this.handle);
  }

  private start(): void {
    this.startedAt = this.clock.now();
    this.handle = this.clock.setTimeout(this.onExpire, Math.max(0, this.remainingMs));
  }
}
