import { describeError, hideMembers } from '../errors.js';
import type { Message } from '../model/message.js';
import { RunError } from '../model/run-error.js';

/** Another process or session object saved the session first. This error has both message arrays. */
export class SessionConflictError extends RunError {
  readonly code = 'ERR_SESSION_CONFLICT';

  constructor(
    readonly session: string,
    /** The messages that could not be saved. Not enumerable, so logs do not show them. */
    readonly mine: readonly Message[],
    /** The messages in the store. Not enumerable, so logs do not show them. */
    readonly stored: readonly Message[],
  ) {
    super(`Session "${session}" was changed in the store during the run. Run again from the stored messages.`);
    hideMembers(this, 'mine', 'stored');
  }
}

/**
 * Another run resumes these tool calls, or has resumed them. If the run had started the calls, another run took them over
 * because the claim was not renewed in time.
 */
export class ResumeClaimedError extends RunError {
  readonly code = 'ERR_RESUME_CLAIMED';

  constructor(readonly session: string) {
    super(
      `Another run has claimed the open tool calls of session "${session}". Load the session to see their results.`,
    );
  }
}

/** The session was still in use when `timeouts.queueMs` had passed. Nothing ran. */
export class SessionBusyError extends RunError {
  readonly code = 'ERR_SESSION_BUSY';

  constructor(
    readonly session: string,
    readonly timeoutMs: number,
  ) {
    super(
      `Session "${session}" was still busy after ${timeoutMs} ms (\`timeouts.queueMs\`). ` +
        'If a tool of its own run opened the session again, pass `parent: context.run` to find the nested run.',
    );
  }
}

/** The session store failed. `cause` is the error of the store. */
export class SessionStoreError extends RunError {
  readonly code = 'ERR_SESSION_STORE';

  constructor(
    readonly session: string,
    action: 'loaded' | 'saved' | 'claimed',
    cause: unknown,
  ) {
    super(`Session "${session}" could not be ${action}: ${describeError(cause)}`, { cause });
  }
}
