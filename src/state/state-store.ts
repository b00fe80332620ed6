import type { Awaitable } from '../internal/promise.js';

/** The scope of a value: one extension in one session. Both ids may be arbitrary strings. */
export interface StateScope {
  readonly extension: string;
  readonly session: string;
}

/** A key and its value. */
export interface StateEntry {
  readonly key: string;
  readonly value: string;
  /** Stores the value only if the current value equals `ifValue`. Null means that the key must be absent. */
  readonly ifValue?: string | null | undefined;
}

/** The limits of the state of a session. Sizes are bytes of keys and values in UTF-8. */
export interface StatePolicy {
  /** Lifetime of a value in milliseconds after its last read or write. */
  readonly ttlMs: number;
  /** Lifetime of a session in milliseconds after its last activity. No value outlives its session. */
  readonly sessionTtlMs: number;
  /** Maximum size of one extension in one session. The least recently used values are evicted to make room. */
  readonly extensionBytes: number;
  /** Maximum size of all extensions together in one session. */
  readonly sessionBytes: number;
}

/** A value that was removed to make room for a new value. */
export interface EvictedState {
  readonly key: string;
  readonly bytes: number;
}

/** The result of a write. */
export interface StateChange {
  /**
   * False if the value is too large even without the other values of its extension, or if the current value is not
   * `ifValue`. Then nothing was changed.
   */
  readonly stored: boolean;
  /** True if nothing was stored because the current value is not `ifValue`. */
  readonly conflict?: boolean | undefined;
  /** Evicted values, the least recently used first. All are of the same extension and session. */
  readonly evicted: readonly EvictedState[];
  /** Size of the session in bytes before the write. */
  readonly bytesBefore: number;
  /** Size of the session in bytes after the write. */
  readonly bytesAfter: number;
}

/** A value of a session. */
export interface SessionStateEntry extends StateEntry {
  readonly extension: string;
}

/** Selects the values that `peek` returns. */
export interface StatePeek {
  readonly session: string;
  readonly extensions: readonly string[];
  /** Maximum size of the returned keys and values of each extension. */
  readonly extensionBytes: number;
}

/** Values and sizes of a session at one moment. */
export interface StateView extends StateStats {
  /**
   * Values of the requested extensions. If not all values of an extension are within the limit, only the most recently
   * used ones.
   */
  readonly values: readonly Omit<SessionStateEntry, 'ifValue'>[];
  /** The requested extensions of which `values` has every value. */
  readonly complete: readonly string[];
}

/** Reads and writes of one session, which the store applies in one atomic step. */
export interface StateBatch {
  readonly session: string;
  /**
   * The values to store, in this order, each by the rules of `set`. An extension must not occur twice with the same
   * key.
   */
  readonly entries: readonly SessionStateEntry[];
  /** Keys that were read. Each counts as a `get` before the writes. */
  readonly used: readonly { readonly extension: string; readonly key: string }[];
}

/** The size of the state of a session. */
export interface StateStats {
  readonly bytes: number;
  /** Bytes by extension id. Extensions without state are absent. */
  readonly extensions: Readonly<Record<string, number>>;
}

/**
 * Stores the state of extensions as strings under keys. Each call is one atomic step, even if several processes share
 * the store, so the limits always hold.
 *
 * A value expires at `min(last use + ttlMs, end of its session)`, by the policy of that use. If `ttlMs` is at least
 * `sessionTtlMs`, the value expires with its session. Expired values do not count in any size. A session without values
 * is removed.
 *
 * Throws a StateKeyError unless a key has 1 to 512 characters. Throws an OptionInvalidError unless the times of a
 * policy are at least 1 and its sizes at least 0. A scope holds at most 10,000 keys. Ids and keys are arbitrary
 * strings; values are strings that UTF-8 can encode.
 */
export interface StateStore {
  /**
   * Returns the value, and restarts the lifetime of the value and of its session. Returns undefined if the key is
   * absent.
   */
  get(scope: StateScope, key: string, policy: StatePolicy): Awaitable<string | undefined>;
  /** Stores the value if it is within all limits. Then restarts the lifetime of the value and of its session. */
  set(scope: StateScope, entry: StateEntry, policy: StatePolicy): Awaitable<StateChange>;
  /** Removes one value, or all values of the scope. Returns the number of removed values. */
  clear(scope: StateScope, key?: string): Awaitable<number>;
  /** Removes the state of an extension in every session, one session per step. Returns the number of removed values. */
  clearExtension(extension: string): Awaitable<number>;
  /** Removes the state of a session. Returns the number of removed values. */
  clearSession(session: string): Awaitable<number>;
  /** Restarts the lifetime of the session and of the values that expire with it. */
  touch(session: string, policy: StatePolicy): Awaitable<void>;
  /** Returns the current size of the session. */
  stats(session: string): Awaitable<StateStats>;
  /**
   * Returns values of several extensions. Does not restart any lifetime. Optional: with `peek` and `apply`, the state
   * of a run is read and written in few calls.
   */
  peek?(query: StatePeek): Awaitable<StateView>;
  /**
   * Applies the writes of several extensions in one step. Returns one result per entry. A refused entry does not affect
   * the others.
   */
  apply?(batch: StateBatch, policy: StatePolicy): Awaitable<readonly StateChange[]>;
}
