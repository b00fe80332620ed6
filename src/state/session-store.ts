import { invalidOption } from '../internal/options/validate.js';
import type { Awaitable } from '../internal/promise.js';
import type { Message } from '../model/message.js';

/** A session as a store keeps it. */
export interface StoredSession {
  readonly messages: readonly Message[];
  /** Grows by one with every save. */
  readonly revision: number;
}

/** A change of a stored session: what stays from the start of the list, and what follows it. */
export interface SessionChange {
  /** How many of the stored messages stay, from the first on. */
  readonly keep: number;
  /** What comes after them. */
  readonly append: readonly Message[];
}

/** Where sessions live. `save` compares and sets, so that of two writers one learns that it was second. */
export interface SessionStore {
  /** What is stored, or undefined. */
  load(id: string): Awaitable<StoredSession | undefined>;
  /**
   * Makes the change if the stored revision is `expected` (0 where nothing is stored), and returns the new revision.
   * Otherwise changes nothing and returns undefined. Changes nothing and fails where more is to stay than there is.
   */
  save(id: string, change: SessionChange, expected: number): Awaitable<number | undefined>;
  /** Forgets the session; nothing happens where there is none. */
  delete(id: string): Awaitable<void>;
}

/** Throws an OptionInvalidError unless so many of the stored messages can stay. */
export function checkKeep(keep: number, stored: number): void {
  if (Number.isInteger(keep) && keep >= 0 && keep <= stored) return;
  throw invalidOption('keep', `a whole number from 0 to ${stored}, the stored messages`, keep);
}
