import { TimeoutExceededError } from '../../errors.js';
import type { Clock } from '../../internal/clock.js';
import { onAbort, Stop } from '../../internal/stop.js';

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
  readonly what: string;
  readonly callMs: number;
  readonly totalMs: number;
  readonly hold: PausableClock;
  readonly signal: AbortSignal | undefined;
}

/** The reason of the signal that work gets. An SDK sends it to the server, so it says nothing about the host. */
const NO_LONGER_WAITING = 'The client no longer waits for the answer.';

/** Shortest time between two checks. While the clock is stopped, a nearly reached limit is checked this often. */
const CHECK_MS = 20;

/**
 * Runs `work` within time limits, with a signal of its own. `touch` restarts the limit on the time without progress.
 * Rejects at once with a TimeoutExceededError at a limit, or with the reason of the caller's signal when it is aborted.
 * One timer enforces the limits, however often progress is reported.
 */
export async function withDeadline<T>(
  { what, callMs, totalMs, hold, signal }: TimeLimits,
  work: (signal: AbortSignal, touch: () => void) => Promise<T>,
): Promise<T> {
  const stop = new Stop();
  const controller = new AbortController();
  stop.onStop(() => controller.abort(NO_LONGER_WAITING));
  stop.follow(signal);
  const startedAt = hold.now();
  let touchedAt = startedAt;
  const touch = () => {
    touchedAt = hold.now();
  };
  const check = () => {
    const now = hold.now();
    const idleLeft = touchedAt + callMs - now;
    const left = Math.min(idleLeft, startedAt + totalMs - now);
    if (left > 0) timer = hold.clock.setTimeout(check, Math.max(left, CHECK_MS));
    else stop.stop(new TimeoutExceededError(what, left === idleLeft ? callMs : totalMs));
  };
  let timer = hold.clock.setTimeout(check, Math.min(callMs, totalMs));
  try {
    return await stop.race(work(controller.signal, touch));
  } finally {
    hold.clock.clearTimeout(timer);
    stop.release();
  }
}

/** Waits for `ms` milliseconds. Resolves early when the signal is aborted. */
export function pauseFor(
  ms: number,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      clock.clearTimeout(timer);
      unfollow();
      resolve();
    };
    const timer = clock.setTimeout(end, ms);
    const unfollow = onAbort(signal, end);
  });
}
