import type { Clock } from 'keelson';

/** A delay up to this is a poll or a short pause. It can end whenever there is something to find. */
const SHORT_MS = 1_000;

/** The members of the world that a clock uses. */
interface Time {
  now: number;
  /** Changes when a poll can find something. */
  news(): string;
  /** The delay of a timer that is not a poll. */
  readonly batchMs?: number | undefined;
}

/** A timer of one process. */
export interface Timer {
  readonly at: number;
  readonly ms: number;
  readonly callback: () => void;
  /** True if the end of the timer can change anything. */
  readonly isUseful: () => boolean;
}

/** The clock of one process. All have the same time. A timer fires only when the scheduler says so. */
export class ProcessClock implements Clock {
  readonly timers = new Set<Timer>();
  /** Set while a poll waits for more than any news. */
  pollsFor: (() => boolean) | undefined = undefined;

  constructor(private readonly time: Time) {}

  now(): number {
    return this.time.now;
  }

  setTimeout(callback: () => void, ms: number): Timer {
    const timer = { at: this.time.now + ms, ms, callback, isUseful: this.usefulAfter(ms) };
    this.pollsFor = undefined;
    this.timers.add(timer);
    return timer;
  }

  clearTimeout(timer: unknown): void {
    this.timers.delete(timer as Timer);
  }

  /** The timers that can fire now. */
  get due(): readonly Timer[] {
    return [...this.timers].filter(({ isUseful }) => isUseful());
  }

  /** True while a poll waits. */
  get polls(): boolean {
    return [...this.timers].some(({ ms }) => ms <= SHORT_MS && ms !== this.time.batchMs);
  }

  fire(timer: Timer): void {
    this.timers.delete(timer);
    this.time.now = Math.max(this.time.now, timer.at);
    timer.callback();
  }

  private usefulAfter(ms: number): () => boolean {
    const { time } = this;
    const at = time.now + ms;
    if (ms > SHORT_MS) return () => time.now >= at;
    if (ms === time.batchMs) return () => true;
    const before = time.news();
    const hasNews = this.pollsFor ?? (() => time.news() !== before);
    return () => time.now >= at || hasNews();
  }
}
