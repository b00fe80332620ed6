import { TimeoutExceededError } from '../../errors.js';
import type { Clock } from '../../internal/clock.js';

/** A clock that stands still while a person is asked. */
export class PausableClock {
  private asked = 0;
  private since = 0;
  private heldMs = 0;

  constructor(readonly clock: Clock) {}

  /** The time, without the time in which people were asked. */
  now(): number {
    return (this.asked > 0 ? this.since : this.clock.now()) - this.heldMs;
  }

  /** Waits for a person. Time limits go on afterwards where they were. */
  readonly during = async <T>(work: () => Promise<T>): Promise<T> => {
    if (this.asked === 0) this.since = this.clock.now();
    this.asked += 1;
    try {
      return await work();
    } finally {
      this.asked -= 1;
      if (this.asked === 0) this.heldMs += this.clock.now() - this.since;
    }
  };
}

/** The time that some work may take. */
export interface TimeLimits {
  readonly what: string;
  /** Without a sign of life. */
  readonly callMs: number;
  readonly totalMs: number;
  readonly hold: PausableClock;
}

/** While a person is asked, a limit that is nearly over is looked at this often. */
const LOOK_MS = 20;

/** Keeps the time limits of some work with one timer, however often there is a sign of life. */
export class Deadline {
  private readonly startedAt: number;
  private touchedAt: number;
  private timer: unknown;

  constructor(
    private readonly limits: TimeLimits,
    private readonly onEnd: (error: TimeoutExceededError) => void,
  ) {
    this.startedAt = limits.hold.now();
    this.touchedAt = this.startedAt;
    this.wait(Math.min(limits.callMs, limits.totalMs));
  }

  /** There was a sign of life. */
  touch(): void {
    this.touchedAt = this.limits.hold.now();
  }

  clear(): void {
    this.limits.hold.clock.clearTimeout(this.timer);
  }

  private check(): void {
    const { what, callMs, totalMs, hold } = this.limits;
    const now = hold.now();
    const idleLeft = this.touchedAt + callMs - now;
    const totalLeft = this.startedAt + totalMs - now;
    const left = Math.min(idleLeft, totalLeft);
    if (left > 0) this.wait(Math.max(left, LOOK_MS));
    else this.onEnd(new TimeoutExceededError(what, idleLeft < totalLeft ? callMs : totalMs));
  }

  private wait(ms: number): void {
    this.timer = this.limits.hold.clock.setTimeout(() => this.check(), ms);
  }
}
