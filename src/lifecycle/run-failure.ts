import { describeError } from '../errors.js';
import { RunError } from '../model/run-error.js';
import type { HookPoint } from './decision.js';

/** A hook of a lifecycle threw, timed out or returned an invalid value. `cause` is the original error. */
export class LifecycleError extends RunError {
  readonly code = 'ERR_LIFECYCLE_FAILED';
  readonly lifecycle: string;
  readonly point: string;

  constructor(lifecycle: string, point: string, cause: unknown) {
    super(`Lifecycle "${lifecycle}" failed in ${point}: ${describeError(cause)}`, { cause });
    this.lifecycle = lifecycle;
    this.point = point;
  }
}

/** A lifecycle rejected the run. */
export class RejectedError extends RunError {
  readonly code = 'ERR_RUN_REJECTED';
  readonly reason: string;
  /** The name of the lifecycle, or the `by` of its action. */
  readonly by: string;
  readonly point: HookPoint | 'end';

  constructor(reason: string, by: string, point: HookPoint | 'end') {
    super(`The run was rejected by "${by}" in ${point}: ${reason}`);
    this.reason = reason;
    this.by = by;
    this.point = point;
  }
}

/**
 * The run was aborted by its signal, by closing the agent, or because the consumer left the stream. `cause` is the
 * abort reason.
 */
export class RunAbortedError extends RunError {
  readonly code = 'ERR_RUN_ABORTED';

  constructor(reason: unknown) {
    super(`The run was aborted: ${describeError(reason)}`, { cause: reason });
  }
}
