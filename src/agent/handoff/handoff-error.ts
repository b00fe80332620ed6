import { RunError } from '../../model/run-error.js';

/**
 * A conversation cannot go on with an agent. A handoff call gets the message as its error result. If a run fails with this error,
 * a new run can continue from its `history`.
 */
export class HandoffUnavailableError extends RunError {
  readonly code = 'ERR_HANDOFF_UNAVAILABLE';

  constructor(agent: string, problem: string, cause?: unknown) {
    super(`The conversation cannot go on with agent "${agent}": ${problem}.`, cause === undefined ? {} : { cause });
  }
}
