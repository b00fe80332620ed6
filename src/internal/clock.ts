import pTimeout, { type ClearablePromise } from 'p-timeout';
import { type Awaitable, isPromise } from './promise.js';

/** Source of time. A durable engine or a test can supply its own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `callback` once after `ms` milliseconds. Pass the return value to `clearTimeout` to cancel it. */
  setTimeout(callback: () => void, ms: number): unknown;
  /** Cancels a timer that `setTimeout` returned. */
  clearTimeout(handle: unknown): void;
}

/** The system clock. Looks up the global timer functions on each call, so that fake timers of a test take effect. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, ms) => setTimeout(callback, ms),
  clearTimeout: (handle) => clearTimeout(handle as Parameters<typeof clearTimeout>[0]),
};

/** The longest delay that JavaScript timers support. A longer delay would fire at once. */
export const MAX_TIMER_MS = 2_147_483_647;

/** True for a number of milliseconds that a timer supports. */
export function isTimerMs(value: unknown): value is number {
  return typeof value === 'number' && value >= 1 && value <= MAX_TIMER_MS;
}

/** Returns the timer functions of a clock in the form that p-timeout expects. */
export function timersOf(clock: Clock): { setTimeout: typeof setTimeout; clearTimeout: typeof clearTimeout } {
  return {
    setTimeout: clock.setTimeout.bind(clock) as typeof setTimeout,
    clearTimeout: clock.clearTimeout.bind(clock) as typeof clearTimeout,
  };
}

type Late = Error & { readonly timeoutMs: number };

/**
 * Settles as the promise does, or rejects with `late` after `late.timeoutMs`. The promise itself is not cancelled.
 * Returns a value that is not a promise unchanged.
 */
export function withinTime<T>(promise: PromiseLike<T>, late: Late, clock: Clock): ClearablePromise<T>;
export function withinTime<T>(value: Awaitable<T>, late: Late, clock: Clock): Awaitable<T>;
export function withinTime<T>(value: Awaitable<T>, late: Late, clock: Clock): Awaitable<T> {
  if (!isPromise(value)) return value;
  return pTimeout(value, { milliseconds: late.timeoutMs, message: late, customTimers: timersOf(clock) });
}

/** Settles as the promise does, or resolves with undefined after `ms`. Cheaper than p-timeout. */
export function withinMs<T>(promise: PromiseLike<T>, ms: number, clock: Clock): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimeout(() => resolve(undefined), ms);
    const end = () => clock.clearTimeout(timer);
    promise.then(resolve, reject);
    promise.then(end, end);
  });
}

/** Resolves after `ms` milliseconds. */
export function sleep(ms: number, clock: Clock): Promise<void> {
  return new Promise((resolve) => void clock.setTimeout(resolve, ms));
}

/** Calls `work` again `ms` after each call has ended, even if it failed. Returns a function that ends this. */
export function repeat(work: () => Promise<unknown>, ms: number, clock: Clock): () => void {
  let timer: unknown;
  let isOver = false;
  const again = () => {
    if (!isOver) timer = clock.setTimeout(() => void work().then(again, again), ms);
  };
  again();
  return () => {
    isOver = true;
    clock.clearTimeout(timer);
  };
}
