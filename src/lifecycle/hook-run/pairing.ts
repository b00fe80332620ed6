import type { RegisteredLifecycle } from '../registered-lifecycle.js';

/**
 * Tracks which lifecycles of a run have started and ended, so that each started one gets either `afterAgent` or
 * `onError`. A lifecycle has started when its `beforeAgent` has returned or is absent.
 */
export class Pairing {
  /** The number of lifecycles that have started, in the order of the chain. */
  private entered = 0;
  /** The number of lifecycles that have ended: their `afterAgent` was called or skipped. */
  private left = 0;
  /** The `beforeAgent` hook that is still running. */
  entering: { readonly entry: RegisteredLifecycle; readonly done: Promise<unknown> } | undefined = undefined;

  /** Records that all lifecycles before this one have started. Called before its `beforeAgent` hook. */
  reach(entry: RegisteredLifecycle): void {
    this.entered = entry.index;
  }

  /** Records the pending promise of a `beforeAgent` hook. */
  await(entry: RegisteredLifecycle, done: Promise<unknown>): void {
    this.entering = { entry, done };
  }

  awaited(): void {
    this.entering = undefined;
  }

  /** Records that the lifecycle has started. Called after its `beforeAgent` hook. */
  enter(entry: RegisteredLifecycle): void {
    this.entered = entry.index + 1;
    this.entering = undefined;
  }

  /** Records that all lifecycles have started. Called after the last `beforeAgent` hook. */
  enterAll(): void {
    this.entered = Number.POSITIVE_INFINITY;
  }

  /**
   * Records that the lifecycle has ended. Called before its `afterAgent` hook. Returns false if the lifecycle has not
   * started.
   */
  leave(entry: RegisteredLifecycle): boolean {
    if (entry.index >= this.entered) return false;
    this.left = entry.index + 1;
    return true;
  }

  /** True if the lifecycle has started and not ended. It gets `onError` if the run fails. */
  owesError({ index }: RegisteredLifecycle): boolean {
    return index < this.entered && index >= this.left;
  }
}
