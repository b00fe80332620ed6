import { TimeoutExceededError } from '../../errors.js';
import type { Clock } from '../../internal/clock.js';

/** A clock that is stopped while a user is asked. */
export class PausableClock {
  private asked = 0;
  private since = 0;
  private heldMs = 0;

  constructor(readonly clock: Clock) {}

  /** Returns the time without the periods in which the clock was stopped. */
  now(): number {
    return (this.asked > 0 ? this.since : this.clock.now()) - this.heldMs;
  }

  /** Runs `work`, such as a question to a user, with the clock stopped. Time limits continue afterwards. */
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

/** The time limits of a request or a connection attempt. */
export interface TimeLimits {
  /** Names the work in the error message. */
  readonly what: string;
  /** Longest time without progress. */
  readonly callMs: number;
  readonly totalMs: number;
  readonly hold: PausableClock;
}

/** Shortest time between two checks. While the clock is stopped, a nearly reached limit is checked this often. */
const CHECK_MS = 20;

/** Enforces time limits with a single timer, however often progress is reported. */
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

  /** Restarts the limit on the time without progress. */
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
    if (left > 0) this.wait(Math.max(left, CHECK_MS));
    else this.onEnd(new TimeoutExceededError(what, idleLeft < totalLeft ? callMs : totalMs));
  }

  private wait(ms: number): void {
    this.timer = this.limits.hold.clock.setTimeout(() => this.check(), ms);
  }
}

/** Waits for `ms` milliseconds. Resolves early when the signal fires. */
export function pauseFor(
  ms: number,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clock.clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = clock.setTimeout(end, ms);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}
