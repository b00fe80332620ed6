import type { RegisteredLifecycle } from '../registered-lifecycle.js';

/**
 * Which lifecycles a run has entered and left. A lifecycle that was entered gets exactly one of `afterAgent` or `onError`.
 * The positions count in chain order.
 */
export class Pairing {
  /** The number of lifecycles whose `beforeAgent` has returned or is absent. */
  private entered = 0;
  /** The number of lifecycles whose `afterAgent` has run or was skipped. */
  private left = 0;
  /** The `beforeAgent` hook whose promise has not settled. */
  entering: { readonly entry: RegisteredLifecycle; readonly done: Promise<unknown> } | undefined = undefined;

  /** Called before a `beforeAgent` hook. */
  reach(entry: RegisteredLifecycle): void {
    this.entered = entry.index;
  }

  /** Called when a `beforeAgent` hook has returned a promise. */
  await(entry: RegisteredLifecycle, done: Promise<unknown>): void {
    this.entering = { entry, done };
  }

  /** Called when the promise of a `beforeAgent` hook has settled. */
  awaited(): void {
    this.entering = undefined;
  }

  /** Called after a `beforeAgent` hook. */
  enter(entry: RegisteredLifecycle): void {
    this.entered = entry.index + 1;
    this.entering = undefined;
  }

  /** Called after all `beforeAgent` hooks. */
  enterAll(): void {
    this.entered = Number.POSITIVE_INFINITY;
  }

  /** Called before an `afterAgent` hook. Returns false if the lifecycle was not entered. */
  leave(entry: RegisteredLifecycle): boolean {
    if (entry.index >= this.entered) return false;
    this.left = entry.index + 1;
    return true;
  }

  /** True if the lifecycle gets `onError` when the run fails now. */
  owesError({ index }: RegisteredLifecycle): boolean {
    return index < this.entered && index >= this.left;
  }
}
