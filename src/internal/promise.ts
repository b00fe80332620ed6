/** A value or a promise of it. */
export type Awaitable<T> = T | PromiseLike<T>;

/** True for a promise or any other object with a `then` method. */
export function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

/** A promise with its `resolve` and `reject` functions. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (reason: unknown) => void;
}

/** Creates a promise of the class `Type`, and the functions that settle it. */
export function createDeferred<T>(Type = Promise): Deferred<T> {
  let resolve!: (value: T) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Type<T>((res, rej) => {
    resolve = res;
    reject = rej;
  });
  return { promise, resolve, reject };
}
