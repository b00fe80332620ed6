import type { Clock } from '../../internal/clock.js';

/** Pauses time limits while a person is asked. */
export class PausableClock {
  private asked = 0;
  private since = 0;
  private heldMs = 0;
  private readonly deadlines = new Set<Deadline>();

  constructor(readonly clock: Clock) {}

  get isHeld(): boolean {
    return this.asked > 0;
  }

  /** The time, less that in which people were asked. */
  now(): number {
    return (this.isHeld ? this.since : this.clock.now()) - this.heldMs;
  }

  /** Waits for a person. Limits of time go on afterwards where they were. */
  readonly during = async <T>(work: () => Promise<T>): Promise<T> => {
    if (!this.isHeld) this.since = this.clock.now();
    this.asked += 1;
    try {
      return await work();
    } finally {
      this.asked -= 1;
      if (!this.isHeld) this.release();
    }
  };

  add(deadline: Deadline): void {
    this.deadlines.add(deadline);
  }

  delete(deadline: Deadline): void {
    this.deadlines.delete(deadline);
  }

  private release(): void {
    this.heldMs += this.clock.now() - this.since;
    for (const deadline of this.deadlines) deadline.check();
  }
}

/** A time limit that can start anew, and stands still while a person is being asked. */
export class Deadline {
  private timer: unknown = undefined;
  private end = 0;

  constructor(
    private readonly ms: number,
    private readonly onEnd: () => void,
    private readonly hold: PausableClock,
  ) {
    hold.add(this);
    this.restart();
  }

  restart(): void {
    this.end = this.hold.now() + this.ms;
    this.wait(this.ms);
  }

  clear(): void {
    this.hold.delete(this);
    this.hold.clock.clearTimeout(this.timer);
  }

  /** Ends when the time is up. Paused while a person is asked; checked again afterwards. */
  check(): void {
    if (this.hold.isHeld) return;
    // A clock that was set back makes no limit longer than it is.
    const left = Math.min(this.ms, this.end - this.hold.now());
    if (left > 0) this.wait(left);
    else this.onEnd();
  }

  private wait(ms: number): void {
    this.hold.clock.clearTimeout(this.timer);
    this.timer = this.hold.clock.setTimeout(() => this.check(), ms);
  }
}
