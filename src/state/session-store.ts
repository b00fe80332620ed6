import { invalidOption } from '../internal/options/validate.js';
import type { Awaitable } from '../internal/promise.js';
import type { Message } from '../model/message.js';

/** A session as a store returns it. */
export interface StoredSession {
  readonly messages: readonly Message[];
  /** Grows by one with every save. */
  readonly revision: number;
}

/** A change of a stored session: keeps messages from the start, and appends messages. */
export interface SessionChange {
  /** Number of stored messages to keep, counted from the first. */
  readonly keep: number;
  /** Messages to append after the kept ones. */
  readonly append: readonly Message[];
}

/** Stores sessions. `save` compares revisions, so that the second of two concurrent writers is refused. */
export interface SessionStore {
  /** Returns the stored session, or undefined if the store has no session with this id. */
  load(id: string): Awaitable<StoredSession | undefined>;
  /**
   * Makes the change if the stored revision is `expected`, and returns the new revision. The revision is 0 if nothing is
   * stored. Otherwise changes nothing and returns undefined. Fails without a change if `keep` exceeds the stored messages.
   */
  save(id: string, change: SessionChange, expected: number): Awaitable<number | undefined>;
  /** Deletes the session. Does nothing if the store has no session with this id. */
  delete(id: string): Awaitable<void>;
}

/** Throws an OptionInvalidError unless `keep` is a number from 0 to the number of stored messages. */
export function checkKeep(keep: number, stored: number): void {
  if (Number.isInteger(keep) && keep >= 0 && keep <= stored) return;
  throw invalidOption('keep', `a whole number from 0 to ${stored}, the stored messages`, keep);
}
