import pTimeout, { type ClearablePromise } from 'p-timeout';
import { type Awaitable, isPromise } from './promise.js';

/** Where time comes from. A durable engine or a test puts its own in. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `callback` once after `ms` milliseconds; the value returned is given to `clearTimeout`. */
  setTimeout(callback: () => void, ms: number): unknown;
  /** Ends a timer that `setTimeout` gave. */
  clearTimeout(handle: unknown): void;
}

/** The clock of the machine, read at each call so that patched timers are honoured. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, ms) => setTimeout(callback, ms),
  clearTimeout: (handle) => clearTimeout(handle as Parameters<typeof clearTimeout>[0]),
};

/** The longest delay that a timer keeps; a longer one would fire at once. */
export const MAX_TIMER_MS = 2_147_483_647;

/** Whether a value is a time that a timer can keep, in milliseconds. */
export function isTimerMs(value: unknown): value is number {
  return typeof value === 'number' && value >= 1 && value <= MAX_TIMER_MS;
}

/** A clock's timers as p-timeout takes them. */
export function timersOf(clock: Clock): { setTimeout: typeof setTimeout; clearTimeout: typeof clearTimeout } {
  return {
    setTimeout: clock.setTimeout.bind(clock) as typeof setTimeout,
    clearTimeout: clock.clearTimeout.bind(clock) as typeof clearTimeout,
  };
}

type Late = Error & { readonly timeoutMs: number };

/** A promise's outcome, or a rejection with `late` when its time is up: the promise itself goes on. Returns other values. */
export function withinTime<T>(promise: PromiseLike<T>, late: Late, clock: Clock): ClearablePromise<T>;
export function withinTime<T>(value: Awaitable<T>, late: Late, clock: Clock): Awaitable<T>;
export function withinTime<T>(value: Awaitable<T>, late: Late, clock: Clock): Awaitable<T> {
  if (!isPromise(value)) return value;
  return pTimeout(value, { milliseconds: late.timeoutMs, message: late, customTimers: timersOf(clock) });
}
