import { describeError, KeelsonError } from '../../errors.js';
import { RunError } from '../../model/run-error.js';
import type { SessionHolder } from '../../state/session-store.js';

/**
 * The run lost its conversation: another run has taken over because this run did not renew its claim in time, or the
 * conversation was deleted. The run has ended, and has added nothing since.
 */
export class SessionLostError extends RunError {
  readonly code = 'ERR_SESSION_LOST';

  constructor(readonly session: string) {
    super(
      `The run lost session "${session}": another run has taken it over, or the session was deleted. ` +
        'Load the session to see its messages. If a process often pauses for longer, raise `timeouts.claimMs`.',
    );
  }
}

/** Another run still held the conversation after `timeouts.queueMs`. Nothing ran. */
export class SessionBusyError extends RunError {
  readonly code = 'ERR_SESSION_BUSY';

  constructor(
    readonly session: string,
    readonly timeoutMs: number,
    /** The run that holds the conversation, if it is known. */
    readonly holder?: SessionHolder | undefined,
  ) {
    const who = holder === undefined ? '' : ` by run "${holder.run}"`;
    const wait = holder?.waitsFor === undefined ? '' : `, which waits for a person (${holder.waitsFor}),`;
    super(
      `Session "${session}" was still in use${who}${wait} after ${timeoutMs} ms (\`timeouts.queueMs\`). ` +
        'Try again later, or raise `timeouts.queueMs`. A tool cannot start a run in the session of its own run: ' +
        'with `parent: context.run`, such a run fails at once.',
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

/** The conversation has no entry with this id, or a run cannot begin after this entry. */
export class EntryInvalidError extends RunError {
  readonly code = 'ERR_ENTRY_INVALID';

  constructor(
    readonly session: string,
    readonly entry: string,
    problem: 'is unknown' | 'lies between tool calls and their results',
  ) {
    super(
      `Entry ${JSON.stringify(entry)} of session "${session}" ${problem}. Use the id of a message in \`session.entries\` ` +
        'whose tool calls have all their results.',
    );
  }
}

/**
 * A run that `attach` follows, or one of its calls, failed. `failure` has the name and the code of the original error.
 */
export class WatchedRunError extends KeelsonError {
  readonly code = 'ERR_WATCHED_RUN';
  readonly failure: { readonly name: string; readonly code?: string | undefined };

  constructor(message: string, failure: WatchedRunError['failure']) {
    super(message);
    this.failure = failure;
  }
}
