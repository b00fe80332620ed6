import { TimeoutExceededError } from '../../errors.js';
import type { Clock } from '../../internal/clock.js';
import { Stop } from '../../internal/stop.js';

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

/** The time limits and the abort signal of a request or a connection attempt. */
interface TimeLimits {
  /** Names the work in the error message. */
  readonly what: string;
  /** Longest time without progress. */
  readonly callMs: number;
  readonly totalMs: number;
  readonly hold: PausableClock;
  readonly signal: AbortSignal | undefined;
}

/** The reason of the signal that work gets. An SDK sends it to the server, so it says nothing about the host. */
const NO_LONGER_WAITING = 'The client no longer waits for the answer.';

/**
 * Runs `work` within time limits, with a signal of its own. `touch` restarts the limit on the time without progress. Rejects
 * with a TimeoutExceededError, or with the reason of the caller's signal, as soon as that happens.
 */
export async function withDeadline<T>(
  limits: TimeLimits,
  work: (signal: AbortSignal, touch: () => void) => Promise<T>,
): Promise<T> {
  const stop = new Stop();
  const controller = new AbortController();
  stop.onStop(() => controller.abort(NO_LONGER_WAITING));
  stop.follow(limits.signal);
  const deadline = new Deadline(limits, (error) => stop.stop(error));
  try {
    return await stop.race(work(controller.signal, () => deadline.touch()));
  } finally {
    deadline.clear();
    stop.release();
  }
}

/** Shortest time between two checks. While the clock is stopped, a nearly reached limit is checked this often. */
const CHECK_MS = 20;

/** Enforces time limits with a single timer, however often progress is reported. */
class Deadline {
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
