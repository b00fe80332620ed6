import { RunError } from '../../model/run-error.js';

/**
 * Thrown when an agent cannot continue a conversation. If a handoff call caused the error, the call gets the message as
 * its error result.
 *
 * If a run fails with this error, a new run can continue from `history`.
 */
export class HandoffUnavailableError extends RunError {
  readonly code = 'ERR_HANDOFF_UNAVAILABLE';

  constructor(agent: string, problem: string, cause?: unknown) {
    super(`The conversation cannot continue with agent "${agent}": ${problem}.`, cause === undefined ? {} : { cause });
  }
}
