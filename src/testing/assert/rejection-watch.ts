import { describeError } from '../../errors.js';
import type { Report } from './lifecycle-fault.js';

/** The part of Node's `process` that this file uses. Missing in browsers. */
interface RejectionSource {
  on(event: 'unhandledRejection', listener: (reason: unknown) => void): unknown;
  off(event: 'unhandledRejection', listener: (reason: unknown) => void): unknown;
}

/** Reports every unhandled rejection, if the runtime emits events for them. The returned function ends the reports. */
export function watchRejections(report: Report): () => void {
  const { process } = globalThis as { readonly process?: Partial<RejectionSource> };
  if (typeof process?.on !== 'function' || typeof process.off !== 'function') return () => {};
  const listener = (reason: unknown) => report(`unhandled rejection: ${describeError(reason)}`);
  process.on('unhandledRejection', listener);
  return () => process.off?.('unhandledRejection', listener);
}
