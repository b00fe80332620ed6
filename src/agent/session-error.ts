import { describeError } from '../errors.js';
import type { Message } from '../model/message.js';
import { RunError } from '../model/run-error.js';

/** Somebody else saved the session in the meantime. Neither list is lost: this error carries both. */
export class SessionConflictError extends RunError {
  readonly code = 'ERR_SESSION_CONFLICT';
  readonly session: string;
  /** The list that was to be saved. */
  readonly mine: readonly Message[];
  /** The list that is stored. */
  readonly stored: readonly Message[];

  constructor(session: string, mine: readonly Message[], stored: readonly Message[]) {
    super(`Session "${session}" was saved by somebody else meanwhile. Run again, from what is stored.`);
    this.session = session;
    this.mine = mine;
    this.stored = stored;
  }
}

/** The session store failed. `cause` is what it threw. */
export class SessionStoreError extends RunError {
  readonly code = 'ERR_SESSION_STORE';
  readonly session: string;

  constructor(session: string, action: 'loaded' | 'saved', cause: unknown) {
    super(`Session "${session}" could not be ${action}: ${describeError(cause)}`, { cause });
    this.session = session;
  }
}
