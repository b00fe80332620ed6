import type { JsonValue } from '../internal/json.js';
import type { Awaitable } from '../internal/promise.js';
import type { Entry } from './record/entry.js';

/** Identifies the entries that a caller already has. */
export interface KnownRecord {
  readonly uid: string;
  /** The number of known entries, from the first one. */
  readonly length: number;
}

/** A part of the record of a conversation: the entries from `offset` on, or the entries that a `RecordQuery` selects. */
export interface StoredRecord {
  /** Identifies the stored conversation. If a conversation is deleted and stored again, it gets another `uid`. */
  readonly uid: string;
  /** The number of stored entries. */
  readonly length: number;
  /** The position of the first returned entry. */
  readonly offset: number;
  readonly entries: readonly Entry[];
  /** The run that has claimed the conversation. Its claim may have expired. */
  readonly holder?: SessionHolder | undefined;
}

/** The run that holds a conversation. */
export interface SessionHolder {
  /** The id of the run. */
  readonly run: string;
  /** Time after which another run may take over, in milliseconds since the epoch. */
  readonly until: number;
  /** Identifies who started the run. */
  readonly by?: string | undefined;
  /** The question that the run waits for, such as an approval. */
  readonly waitsFor?: string | undefined;
}

/** The owner, the title and the data of a session. Set by the host, and only stored by Keelson. */
export interface SessionDetails {
  /** The user that the session belongs to, such as a user id. `list` returns the sessions of one owner. */
  readonly owner?: string | undefined;
  readonly title?: string | undefined;
  /** Data of the host. Must be JSON. */
  readonly data?: Readonly<Record<string, JsonValue>> | undefined;
}

/** Asks for the exclusive right to add entries to a conversation. */
export interface SessionClaim {
  /** A random string that identifies the claim. */
  readonly token: string;
  /** The id of the run. */
  readonly run: string;
  /** Identifies who started the run. */
  readonly by?: string | undefined;
  /** Milliseconds after which another run may take over, unless the claim is renewed. */
  readonly ttlMs: number;
  /**
   * The entries that the caller already has. Without it, the store returns the entries that the model reads and those
   * after them.
   */
  readonly known?: KnownRecord | undefined;
  /** The details of the session. Stored if the conversation is new. */
  readonly details?: SessionDetails | undefined;
}

/** Restarts the lifetime of a claim. */
export interface SessionRenewal extends Pick<SessionClaim, 'token' | 'ttlMs'>, Pick<SessionHolder, 'waitsFor'> {}

/** The answer to a claim. A refused claim names the run that holds the conversation. */
export type ClaimAnswer =
  | (StoredRecord & {
      readonly claimed: true;
      /** The run whose expired claim this claim has replaced. */
      readonly lost?: string | undefined;
    })
  | { readonly claimed: false; readonly holder: SessionHolder };

/** Entries that the run with the claim adds. */
export interface SessionAppend {
  readonly token: string;
  /** The number of entries that the caller knows. */
  readonly length: number;
  readonly entries: readonly Entry[];
  /** The position of the first entry that the model reads. Default: unchanged. */
  readonly context?: number | undefined;
  /** The run whose calls wait for a decision after this append. Null if nothing waits. Default: unchanged. */
  readonly waits?: string | null | undefined;
  /** True ends the claim with the append, unless the store has entries that the caller does not know. */
  readonly release?: boolean | undefined;
}

/** The answer to an append or a release. */
export interface AppendAnswer {
  /** True if the caller held the claim. Without the claim, nothing is added. */
  readonly owned: boolean;
  /** True if all entries of the append are stored, from this call or an earlier one. */
  readonly stored: boolean;
  /** True if the claim has ended. */
  readonly released: boolean;
  /** The number of stored entries. */
  readonly length: number;
  /** The entries after the known ones: posts, which other callers have added. */
  readonly entries: readonly Entry[];
}

/** The answer to a post. */
export interface PostAnswer {
  /** False if the conversation already has an entry with this id. Then nothing was added. */
  readonly added: boolean;
  readonly holder?: SessionHolder | undefined;
}

/** Selects entries for `load`. Default: all of them. */
export interface RecordQuery {
  /**
   * The entries that the caller already has. Returns only the entries after them, if the conversation is still the
   * same.
   */
  readonly known?: KnownRecord | undefined;
  /** `context` returns the entries that the model reads and those after them. */
  readonly from?: 'start' | 'context' | undefined;
  /** Returns only the entries before this position. */
  readonly before?: number | undefined;
  /** The largest number of entries. Returns the last ones of the selection. */
  readonly limit?: number | undefined;
}

/** Selects sessions for `list`. */
export interface SessionQuery {
  readonly owner: string;
  /** Maximum number of sessions on the page, from 1 to 1,000. Default: 50. */
  readonly limit?: number | undefined;
  /** The `next` of the previous page. */
  readonly after?: string | undefined;
}

/** A stored session without its entries. */
export interface SessionSummary extends SessionDetails {
  readonly id: string;
  /** The number of stored entries. */
  readonly length: number;
  /** Time of the first entry, in milliseconds since the epoch. */
  readonly createdAt: number;
  /** Time of the last entry, in milliseconds since the epoch. */
  readonly updatedAt: number;
}

/** One page of a list of sessions. */
export interface SessionPage {
  /** The session with the latest entry comes first. */
  readonly sessions: readonly SessionSummary[];
  /** The value of `after` for the next page. Undefined on the last page. */
  readonly next: string | undefined;
}

/**
 * Stores the records of conversations. Each method is atomic. At most one run holds the claim of a conversation, and
 * only this run adds entries. Any caller may add a post.
 *
 * Adding an entry with a known id has no effect, so a caller may repeat a call after an error.
 */
export interface SessionStore {
  /**
   * Claims a conversation, and returns its new entries. If the conversation is not stored, creates an empty one, which
   * `list` hides.
   *
   * Refused while another token holds a claim that has not expired. A second call with the same token restarts the
   * lifetime.
   */
  claim(id: string, claim: SessionClaim): Awaitable<ClaimAnswer>;
  /** Adds the entries that are not stored yet. With `release`, also ends the claim. Without the claim, adds nothing. */
  append(id: string, append: SessionAppend): Awaitable<AppendAnswer>;
  /** Restarts the lifetime of a claim. Returns false if the claim has ended, or if another run has taken it over. */
  renew(id: string, renewal: SessionRenewal): Awaitable<boolean>;
  /**
   * Adds a post without a claim. A stop is dropped at once if its run neither holds the claim nor waits for decisions.
   * Returns undefined if the conversation is not stored.
   */
  post(id: string, post: Entry): Awaitable<PostAnswer | undefined>;
  /** Returns the stored record, or undefined if the conversation is not stored. */
  load(id: string, query?: RecordQuery): Awaitable<StoredRecord | undefined>;
  /** Returns one page of the sessions of an owner that have entries. */
  list(query: SessionQuery): Awaitable<SessionPage>;
  /** Sets the title or the data, and returns the summary of the session. Returns undefined if it has no entries. */
  update(id: string, details: Omit<SessionDetails, 'owner'>): Awaitable<SessionSummary | undefined>;
  /** Deletes the conversation and its claim. */
  delete(id: string): Awaitable<void>;
  /** Calls the listener after a post was added. Returns a function that ends the watch. Optional. */
  watch?(id: string, listener: () => void): () => void;
}
