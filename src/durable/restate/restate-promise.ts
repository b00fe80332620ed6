import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { PackageMissingError } from '../../errors.js';

/** The members of a `RestatePromise` that the adapter uses. */
export interface RestatePromiseLike<T> extends PromiseLike<T> {
  /** Returns a promise of the return value of `mapper`, which receives the value or the error of this promise. */
  map<U>(mapper: (value: T | undefined, failure: Error | undefined) => U): RestatePromiseLike<U>;
}

interface RestateSdk {
  readonly RestatePromise: { race<T>(promises: readonly RestatePromiseLike<T>[]): RestatePromiseLike<T> };
  isRestatePromise(value: unknown): boolean;
}

const PACKAGE = '@restatedev/restate-sdk';

let loaded: RestateSdk | undefined;

/**
 * Settles as soon as one of the promises does, with the same value or error. Uses the SDK's own race, because Restate
 * allows only one pending `await` of its promises.
 */
export async function firstOf<T>(promises: readonly RestatePromiseLike<T>[]): Promise<T> {
  loaded ??= await loadSdk(promises[0]);
  return loaded.RestatePromise.race(promises);
}

/**
 * Loads the build of the SDK that created the promise. The `import` build and the `require` build do not accept each
 * other's promises.
 */
async function loadSdk(promise: unknown): Promise<RestateSdk> {
  try {
    const imported = (await import('@restatedev/restate-sdk')) as unknown as RestateSdk;
    if (imported.isRestatePromise(promise)) return imported;
    return createRequire(import.meta.url ?? pathToFileURL(__filename))(PACKAGE);
  } catch (cause) {
    throw new PackageMissingError(PACKAGE, cause);
  }
}
