import { describeError, hideMembers } from '../errors.js';
import type { Message } from '../model/message.js';
import { RunError } from '../model/run-error.js';

/** Another process or session object saved the session first. This error has both message arrays. */
export class SessionConflictError extends RunError {
  readonly code = 'ERR_SESSION_CONFLICT';
  readonly session: string;
  /** The messages that could not be saved. Not enumerable, so logs do not show them. */
  readonly mine: readonly Message[];
  /** The messages in the store. Not enumerable, so logs do not show them. */
  readonly stored: readonly Message[];

  constructor(session: string, mine: readonly Message[], stored: readonly Message[]) {
    super(`Session "${session}" was changed in the store during the run. Run again from the stored messages.`);
    this.session = session;
    this.mine = mine;
    this.stored = stored;
    hideMembers(this, 'mine', 'stored');
  }
}

/** The session store failed. `cause` is the error of the store. */
export class SessionStoreError extends RunError {
  readonly code = 'ERR_SESSION_STORE';
  readonly session: string;

  constructor(session: string, action: 'loaded' | 'saved', cause: unknown) {
    super(`Session "${session}" could not be ${action}: ${describeError(cause)}`, { cause });
    this.session = session;
  }
}
