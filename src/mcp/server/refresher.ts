import type { Clock } from '../../internal/clock.js';

const GATHER_MS = 100;
const MAX_GATHER_MS = 5_000;

/**
 * Does the same work again after each request for it: soon, never twice at once, and once for many requests. Where the work
 * itself brings the next request about, it is done less and less often.
 */
export class Refresher {
  private timer: unknown = undefined;
  private isWorking = false;
  private isStale = false;
  private gatherMs = GATHER_MS;
  private endedAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly clock: Clock,
    /** Settles in any case. */
    private readonly work: () => Promise<void>,
  ) {}

  request(): void {
    if (this.isWorking) this.isStale = true;
    else this.timer ??= this.clock.setTimeout(() => void this.run(), this.pause());
  }

  cancel(): void {
    this.isStale = false;
    this.clock.clearTimeout(this.timer);
    this.timer = undefined;
  }

  private pause(): number {
    const isSoon = this.clock.now() - this.endedAt < this.gatherMs;
    this.gatherMs = isSoon ? Math.min(2 * this.gatherMs, MAX_GATHER_MS) : GATHER_MS;
    return this.gatherMs;
  }

  private async run(): Promise<void> {
    this.timer = undefined;
    this.isWorking = true;
    await this.work();
    this.isWorking = false;
    this.endedAt = this.clock.now();
    if (!this.isStale) return;
    this.isStale = false;
    this.request();
  }
}
