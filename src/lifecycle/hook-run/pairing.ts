import type { RegisteredLifecycle } from '../registered-lifecycle.js';

/**
 * Tracks the lifecycles that a run has entered and left. Each entered lifecycle gets either `afterAgent` or `onError`.
 * Positions count in chain order.
 */
export class Pairing {
  /** The number of lifecycles whose `beforeAgent` has returned or is absent. */
  private entered = 0;
  /** The number of lifecycles whose `afterAgent` has run or was skipped. */
  private left = 0;
  /** The `beforeAgent` hook that is still pending. */
  entering: { readonly entry: RegisteredLifecycle; readonly done: Promise<unknown> } | undefined = undefined;

  /** Records that all lifecycles before this one are entered. Called before the `beforeAgent` hook. */
  reach(entry: RegisteredLifecycle): void {
    this.entered = entry.index;
  }

  /** Records the pending promise of a `beforeAgent` hook. */
  await(entry: RegisteredLifecycle, done: Promise<unknown>): void {
    this.entering = { entry, done };
  }

  /** Records that the `beforeAgent` hook has settled. */
  awaited(): void {
    this.entering = undefined;
  }

  /** Records that the lifecycle is entered. Called after its `beforeAgent` hook. */
  enter(entry: RegisteredLifecycle): void {
    this.entered = entry.index + 1;
    this.entering = undefined;
  }

  /** Records that all lifecycles are entered. Called after the last `beforeAgent` hook. */
  enterAll(): void {
    this.entered = Number.POSITIVE_INFINITY;
  }

  /**
   * Records that the lifecycle is left. Called before its `afterAgent` hook. Returns false if the lifecycle was not
   * entered.
   */
  leave(entry: RegisteredLifecycle): boolean {
    if (entry.index >= this.entered) return false;
    this.left = entry.index + 1;
    return true;
  }

  /** True if the lifecycle is entered and not left. It then gets `onError` if the run fails. */
  owesError({ index }: RegisteredLifecycle): boolean {
    return index < this.entered && index >= this.left;
  }
}
