import type { Clock } from '../internal/clock.js';
import type { Spawn } from './process-group.js';

/** Replacements for functions of the system, for tests and unusual hosts. */
export interface SystemOptions {
  readonly clock?: Clock | undefined;
  readonly spawn?: Spawn | undefined;
  /** Sends requests over HTTP. Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}
