import type { Awaitable } from '../internal/promise.js';

/** The owner of a state: one extension in one session. Both ids may be arbitrary strings. */
export interface StateScope {
  readonly extension: string;
  readonly session: string;
}

/** A value under its key. */
export interface StateEntry {
  readonly key: string;
  readonly value: string;
}

/** What a store holds the state of a session to. Sizes are bytes of the stored text in UTF-8, keys not counted. */
export interface StatePolicy {
  /** How long a value lives after it was last read or written, in milliseconds. */
  readonly ttlMs: number;
  /** How long a session lives after it was last active, in milliseconds. No value outlives its session. */
  readonly sessionTtlMs: number;
  /** The most that one extension may keep in one session: what was used longest ago makes room. */
  readonly extensionBytes: number;
  /** The most that all extensions together may keep in one session. */
  readonly sessionBytes: number;
}

/** A value that made room for another. */
export interface EvictedState {
  readonly key: string;
  readonly bytes: number;
}

/** What a write did. */
export interface StateChange {
  /** False where the value does not fit, even with everything else of its extension gone: then nothing changed. */
  readonly stored: boolean;
  /** What had to go, longest unused first; always of the same extension and session. */
  readonly evicted: readonly EvictedState[];
  /** Bytes of the session before the write, and after it. */
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

/** What a session takes. */
export interface StateStats {
  readonly bytes: number;
  /** Bytes by extension id; an extension without state is absent. */
  readonly extensions: Readonly<Record<string, number>>;
}

/**
 * Where the state of extensions lives, as text under keys. Each call is one atomic step, also beside other processes on
 * the same store: limits hold at every moment. A value expires at `min(last use + ttlMs, end of its session)`, by the
 * policy of that use; where `ttlMs` is at least `sessionTtlMs`, it lives exactly as long as its session. What expired is
 * gone from every figure. A session without values is not remembered.
 *
 * A key has 1 to 512 characters, else a StateKeyError is thrown. Times of a policy are 1 or more, sizes 0 or more, else it is an
 * OptionInvalidError. A scope holds at most 10,000 keys. Ids and keys are any
 * text, values any text that UTF-8 can hold.
 */
export interface StateStore {
  /** The value, whose time then starts anew, as does that of its session; undefined where there is none, and nothing changes. */
  get(scope: StateScope, key: string, policy: StatePolicy): Awaitable<string | undefined>;
  /** Stores the value, whose time starts anew, as does that of its session. Within all limits, or not at all. */
  set(scope: StateScope, entry: StateEntry, policy: StatePolicy): Awaitable<StateChange>;
  /** Removes one value, or all of the scope. Returns how many there were. */
  clear(scope: StateScope, key?: string): Awaitable<number>;
  /** Removes all state of an extension, in every session, each in a step of its own. Returns how many values there were. */
  clearExtension(extension: string): Awaitable<number>;
  /** Removes all state of a session. Returns how many values there were. */
  clearSession(session: string): Awaitable<number>;
  /** The session was active: its time starts anew, and with it the time of the values that live as long as it does. */
  touch(session: string, policy: StatePolicy): Awaitable<void>;
  /** What the session takes now. */
  stats(session: string): Awaitable<StateStats>;
}
