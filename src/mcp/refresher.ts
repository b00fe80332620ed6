import type { Clock } from '../internal/clock.js';

const GATHER_MS = 100;

/** Does the same work again after each request for it: soon, never twice at once, and once for many requests. */
export class Refresher {
  private timer: unknown = undefined;
  private isWorking = false;
  private isStale = false;

  constructor(
    private readonly clock: Clock,
    /** Settles in any case. */
    private readonly work: () => Promise<void>,
  ) {}

  request(): void {
    if (this.isWorking) this.isStale = true;
    else this.timer ??= this.clock.setTimeout(() => void this.run(), GATHER_MS);
  }

  cancel(): void {
    this.isStale = false;
    this.clock.clearTimeout(this.timer);
    this.timer = undefined;
  }

  private async run(): Promise<void> {
    this.timer = undefined;
    this.isWorking = true;
    await this.work();
    this.isWorking = false;
    if (!this.isStale) return;
    this.isStale = false;
    this.request();
  }
}
