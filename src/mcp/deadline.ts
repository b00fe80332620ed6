import type { Clock } from '../internal/clock.js';

/** A time limit that can start anew, and does not end while `isHeld` says that somebody is being asked. */
export class Deadline {
  private timer: unknown = undefined;
  private readonly clock: Clock;

  constructor(
    private readonly ms: number,
    private readonly onEnd: () => void,
    private readonly system: { readonly clock: Clock; readonly isHeld: () => boolean },
  ) {
    this.clock = system.clock;
    this.restart();
  }

  restart(): void {
    this.clear();
    this.timer = this.clock.setTimeout(() => (this.system.isHeld() ? this.restart() : this.onEnd()), this.ms);
  }

  clear(): void {
    this.clock.clearTimeout(this.timer);
  }
}
