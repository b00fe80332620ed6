import type { JsonValue } from '../internal/json.js';
import { invalidOption } from '../internal/options/validate.js';
import type { Awaitable } from '../internal/promise.js';
import type { Message } from '../model/message.js';

/** Identifies the messages that a caller already has. */
export interface KnownSession {
  readonly uid: string;
  readonly revision: number;
}

/** A session as a store returns it. */
export interface StoredSession {
  /** Identifies the stored session. A session that is deleted and saved again has a different one. */
  readonly uid: string;
  /** Grows by one with every save. */
  readonly revision: number;
  /** The number of known messages that are still stored. The other known messages are not. Default: 0. */
  readonly keep?: number | undefined;
  /** The stored messages after the first `keep`. */
  readonly messages: readonly Message[];
}

/** The owner, the title and the data of a session. The host sets them; Keelson only stores them. */
export interface SessionDetails {
  /** The user that the session belongs to, such as a user id. `list` returns the sessions of one owner. */
  readonly owner?: string | undefined;
  readonly title?: string | undefined;
  /** Data of the host. Must be JSON. */
  readonly data?: Readonly<Record<string, JsonValue>> | undefined;
}

/** A change of a stored session: keeps messages from the start, and appends messages. */
export interface SessionChange {
  /** Number of stored messages to keep, counted from the first. */
  readonly keep: number;
  /** Messages to append after the kept ones. */
  readonly append: readonly Message[];
  /** The `uid` of the session. The save that creates a session stores it. Default: a random one. */
  readonly uid?: string | undefined;
  /** The token of the claim that the writer holds. The save ends the claim. */
  readonly claim?: string | undefined;
  /** Stored by the save that creates the session. Later saves ignore it. */
  readonly details?: SessionDetails | undefined;
}

/** Asks a store for the exclusive right to resume a session. */
export interface SessionClaim {
  /** A random string that identifies the claim. */
  readonly token: string;
  /** The revision that the caller has loaded. */
  readonly revision: number;
  /** Milliseconds after which another caller may take over the claim, unless it is renewed. */
  readonly ttlMs: number;
}

/** Selects sessions for `list`. */
export interface SessionQuery {
  readonly owner: string;
  /** Maximum number of sessions on the page, from 1 to 1,000. Default: 50. */
  readonly limit?: number | undefined;
  /** The `next` of the previous page. */
  readonly after?: string | undefined;
}

/** A stored session without its messages. */
export interface SessionSummary extends SessionDetails {
  readonly id: string;
  readonly revision: number;
  /** The number of stored messages. */
  readonly length: number;
  /** Time of the first save, in milliseconds since the epoch. */
  readonly createdAt: number;
  /** Time of the last save, in milliseconds since the epoch. */
  readonly updatedAt: number;
}

/** One page of a list of sessions. */
export interface SessionPage {
  /** The session that was saved last comes first. */
  readonly sessions: readonly SessionSummary[];
  /** Pass it as `after` to get the next page. Undefined on the last page. */
  readonly next: string | undefined;
}

/** A new session that starts as a copy. */
export interface SessionFork {
  /** The id of the new session. */
  readonly id: string;
  /** Number of messages to copy, counted from the first. Default: all. */
  readonly keep?: number | undefined;
  /** Merged over the details of the copied session. */
  readonly details?: SessionDetails | undefined;
}

/**
 * Stores sessions. `save` compares revisions, so that the second of two concurrent writers is refused. `claim` lets one of
 * several callers resume a session.
 */
export interface SessionStore {
  /**
   * Returns the stored session, or undefined if the store has no such session. If `known` has the same `uid`, returns only the messages
   * that were saved after the known revision, and in `keep` how many known messages precede them.
   */
  load(id: string, known?: KnownSession): Awaitable<StoredSession | undefined>;
  /**
   * Makes the change if the stored revision is `expected`, and returns the new revision. The revision is 0 if nothing is
   * stored. Otherwise changes nothing and returns undefined. Also returns undefined if `uid` differs, if another claim is
   * active, or if `claim` is not the latest claim. Fails without a change if `keep` exceeds the stored messages.
   */
  save(id: string, change: SessionChange, expected: number): Awaitable<number | undefined>;
  /** Deletes the session. Does nothing if the store has no session with this id. */
  delete(id: string): Awaitable<void>;
  /**
   * Claims the session. Returns 1, or a higher number if earlier claims of this revision ended without a save. Returns
   * undefined if another claim is active or the stored revision differs. A second call with the same token has no further
   * effect.
   */
  claim(id: string, claim: SessionClaim): Awaitable<number | undefined>;
  /** Restarts the time of a claim. Returns false if another caller has taken it over, or if it has ended. */
  renew(id: string, token: string, ttlMs: number): Awaitable<boolean>;
  /** Ends a claim. Does nothing if it has ended or was taken over. */
  release(id: string, token: string): Awaitable<void>;
  /** Returns the sessions of an owner, a page at a time. */
  list(query: SessionQuery): Awaitable<SessionPage>;
  /**
   * Sets the title or the data, and returns the summary of the session. Returns undefined if there is no session. Does not
   * change the revision.
   */
  update(id: string, details: Omit<SessionDetails, 'owner'>): Awaitable<SessionSummary | undefined>;
  /**
   * Copies a session to a new id. Returns the summary of the new session, or undefined if there is no session `id`. Fails
   * with a SessionExistsError if the new id is in use, and without a change if `keep` exceeds the stored messages.
   */
  fork(id: string, fork: SessionFork): Awaitable<SessionSummary | undefined>;
}

/** Throws an OptionInvalidError unless `keep` is a number from 0 to the number of stored messages. */
export function checkKeep(keep: number, stored: number): void {
  if (Number.isInteger(keep) && keep >= 0 && keep <= stored) return;
  throw invalidOption('keep', `a whole number from 0 to ${stored}, the stored messages`, keep);
}
