import type { Awaitable } from '../internal/promise.js';

/** Identifies the values of one extension in one session. Both ids may be arbitrary strings. */
export interface StateScope {
  readonly extension: string;
  readonly session: string;
}

/** A key and its value. */
export interface StateEntry {
  readonly key: string;
  readonly value: string;
  /** If set, the value is stored only if the current value equals this string. Null requires that the key is absent. */
  readonly ifValue?: string | null | undefined;
}

/** Limits of the state that extensions store in a session. Sizes count the keys and values in bytes of UTF-8. */
export interface StatePolicy {
  /** Lifetime of a value in milliseconds after its last read or write. */
  readonly ttlMs: number;
  /** Lifetime of a session in milliseconds after its last activity. No value outlives its session. */
  readonly sessionTtlMs: number;
  /**
   * Maximum size of one extension's values in one session. The least recently used values are evicted to make room for
   * new ones.
   */
  readonly extensionBytes: number;
  /** Maximum size of the values of all extensions together in one session. */
  readonly sessionBytes: number;
}

/** A value that was removed to make room for a new value. */
export interface EvictedState {
  readonly key: string;
  readonly bytes: number;
}

/** The result of storing one value. */
export interface StateChange {
  /**
   * True if the value was stored. False if it does not fit even without the other values of its extension, or if the
   * current value is not `ifValue`. Then nothing was changed.
   */
  readonly stored: boolean;
  /** True if nothing was stored because the current value is not `ifValue`. */
  readonly conflict?: boolean | undefined;
  /**
   * The values that were removed to make room, the least recently used first. All belong to the same extension and
   * session.
   */
  readonly evicted: readonly EvictedState[];
  /** Size of the state of the session before the write, in bytes. */
  readonly bytesBefore: number;
  /** Size of the state of the session after the write, in bytes. */
  readonly bytesAfter: number;
}

/** A key and its value, with the id of the extension that they belong to. */
export interface SessionStateEntry extends StateEntry {
  readonly extension: string;
}

/** Selects the values that `StateStore.peek` returns. */
export interface StatePeek {
  readonly session: string;
  readonly extensions: readonly string[];
  /** Maximum size of the returned keys and values of each extension, in bytes. */
  readonly extensionBytes: number;
}

/** Values and sizes of a session at one moment. */
export interface StateView extends StateStats {
  /**
   * Values of the requested extensions. If the values of an extension exceed the limit of the query, only its most
   * recently used ones are returned.
   */
  readonly values: readonly Omit<SessionStateEntry, 'ifValue'>[];
  /** The ids of the requested extensions whose values are all in `values`. */
  readonly complete: readonly string[];
}

/** Reads and writes in one session that the store applies together, in one atomic step. */
export interface StateBatch {
  readonly session: string;
  /**
   * The values to store, in this order, each by the rules of `set`. An extension must not occur twice with the same
   * key.
   */
  readonly entries: readonly SessionStateEntry[];
  /**
   * Keys whose values the caller has used from an earlier `peek`. Each restarts lifetimes like a `get`, before the
   * writes.
   */
  readonly used: readonly { readonly extension: string; readonly key: string }[];
}

/** The size of the state of a session. */
export interface StateStats {
  readonly bytes: number;
  /** The size of each extension's state in bytes, by extension id. Extensions without state are absent. */
  readonly extensions: Readonly<Record<string, number>>;
}

/**
 * Stores the state of extensions as strings under keys. Each call is one atomic step, even if several processes share
 * the store, so the limits always hold.
 *
 * A value expires `ttlMs` after its last use, or with its session if that is earlier. The policy of the last use
 * applies. If `ttlMs` is at least `sessionTtlMs`, the value expires with its session. Expired values do not count in
 * any size. A session without values is removed.
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
  /** Stores the value if it fits into all limits, and then restarts the lifetime of the value and of its session. */
  set(scope: StateScope, entry: StateEntry, policy: StatePolicy): Awaitable<StateChange>;
  /** Removes one value, or all values of the scope. Returns the number of removed values. */
  clear(scope: StateScope, key?: string): Awaitable<number>;
  /**
   * Removes the state of an extension in every session. Each session is a separate atomic step. Returns the number of
   * removed values.
   */
  clearExtension(extension: string): Awaitable<number>;
  /** Removes the state of a session. Returns the number of removed values. */
  clearSession(session: string): Awaitable<number>;
  /** Restarts the lifetime of the session, and of the values that expire with the session. */
  touch(session: string, policy: StatePolicy): Awaitable<void>;
  /** Returns the size of the state of a session. */
  stats(session: string): Awaitable<StateStats>;
  /**
   * Returns values of several extensions without restarting any lifetime. Optional: with `peek` and `apply`, a run
   * needs only a few calls to read and write its state.
   */
  peek?(query: StatePeek): Awaitable<StateView>;
  /**
   * Stores values of several extensions in one step. Returns one result per entry, in order. An entry that is not
   * stored does not affect the others.
   */
  apply?(batch: StateBatch, policy: StatePolicy): Awaitable<readonly StateChange[]>;
}
