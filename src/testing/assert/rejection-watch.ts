import { describeError } from '../../errors.js';
import type { Report } from './lifecycle-fault.js';

/** The part of Node's `process` that is used here; absent in browsers. */
interface RejectionSource {
  on(event: 'unhandledRejection', listener: (reason: unknown) => void): unknown;
  off(event: 'unhandledRejection', listener: (reason: unknown) => void): unknown;
}

/** Reports every rejection that nobody handles, where the runtime tells. The function that it returns ends the watch. */
export function watchRejections(report: Report): () => void {
  const { process } = globalThis as { readonly process?: Partial<RejectionSource> };
  if (typeof process?.on !== 'function' || typeof process.off !== 'function') return () => {};
  const listener = (reason: unknown) => report(`a rejection went unhandled: ${describeError(reason)}`);
  process.on('unhandledRejection', listener);
  return () => process.off?.('unhandledRejection', listener);
}
