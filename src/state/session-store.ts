import type { JsonValue } from '../internal/json.js';
import type { Awaitable } from '../internal/promise.js';
import type { Entry } from './record/entry.js';

/** Tells a store which entries the caller already has, so that the store returns only later entries. */
export interface KnownRecord {
  readonly uid: string;
  /** The number of entries that the caller has, counted from the first entry of the record. */
  readonly length: number;
}

/** Consecutive entries of a stored conversation, with facts about the whole conversation. */
export interface StoredRecord {
  /**
   * Identifies the stored conversation. If a conversation is deleted and stored again under the same id, it gets
   * another `uid`.
   */
  readonly uid: string;
  /** The number of entries that the store has for the conversation. */
  readonly length: number;
  /** The position of the first returned entry in the whole record, counted from 0. */
  readonly offset: number;
  readonly entries: readonly Entry[];
  /** The run that has claimed the conversation to add entries. Its claim may have expired. */
  readonly holder?: SessionHolder | undefined;
}

/** The run that has claimed a conversation, which gives it the exclusive right to add messages. */
export interface SessionHolder {
  /** The id of the run. */
  readonly run: string;
  /**
   * The time at which the claim expires, in milliseconds since the epoch. After it, another run may claim the
   * conversation.
   */
  readonly until: number;
  /** Identifies who started the run, such as a user id. */
  readonly by?: string | undefined;
  /** The question that the run is waiting for somebody to answer, such as a request for approval. */
  readonly waitsFor?: string | undefined;
}

/** The owner, the title and the data of a session. The application sets them, and Keelson only stores them. */
export interface SessionDetails {
  /** Identifies the user that the session belongs to. `list` returns the sessions of one owner. */
  readonly owner?: string | undefined;
  readonly title?: string | undefined;
  /** Data of the application. Must be JSON. */
  readonly data?: Readonly<Record<string, JsonValue>> | undefined;
}

/** Asks for a claim: the exclusive right of one run to add messages to a conversation. */
export interface SessionClaim {
  /** A random string that proves in later calls that the caller holds the claim. */
  readonly token: string;
  /** The id of the run that asks for the claim. */
  readonly run: string;
  /** Identifies who started the run, such as a user id. */
  readonly by?: string | undefined;
  /** Milliseconds until the claim expires, unless it is renewed. After it, another run may claim the conversation. */
  readonly ttlMs: number;
  /**
   * The entries that the caller already has; the store then returns only later ones. Without it, the store returns all
   * entries from the first one that the model reads.
   */
  readonly known?: KnownRecord | undefined;
  /** The owner, the title and the data of the session. Stored only if the conversation has no entries yet. */
  readonly details?: SessionDetails | undefined;
}

/** Extends a claim: its lifetime starts again. */
export interface SessionRenewal extends Pick<SessionClaim, 'token' | 'ttlMs'>, Pick<SessionHolder, 'waitsFor'> {}

/** The result of a claim. If the claim is refused, `holder` is the run that already holds the conversation. */
export type ClaimAnswer =
  | (StoredRecord & {
      readonly claimed: true;
      /** Set if this claim has replaced an expired claim: the id of the run that lost the conversation. */
      readonly lost?: string | undefined;
    })
  | { readonly claimed: false; readonly holder: SessionHolder };

/** Entries to add to a conversation. Only the run that holds the claim may append. */
export interface SessionAppend {
  readonly token: string;
  /** The number of entries that the caller knows. The answer returns the entries that others have added after these. */
  readonly length: number;
  readonly entries: readonly Entry[];
  /** The position of the first entry that the model reads from now on. Default: unchanged. */
  readonly context?: number | undefined;
  /** The id of the run that waits for a decision after this append. Null if no run waits. Default: unchanged. */
  readonly waits?: string | null | undefined;
  /** If true, the append also ends the claim, unless the store has entries that the caller does not know. */
  readonly release?: boolean | undefined;
}

/** The result of `SessionStore.append`. */
export interface AppendAnswer {
  /** True if the token of the caller holds the claim. Otherwise nothing was added. */
  readonly owned: boolean;
  /** True if the store has all entries of the append, from this call or from an earlier one. */
  readonly stored: boolean;
  /** True if this append has ended the claim. */
  readonly released: boolean;
  /** The number of entries that the store has for the conversation. */
  readonly length: number;
  /**
   * The entries that other callers have added after the entries that the caller knew. These are posts, which need no
   * claim.
   */
  readonly entries: readonly Entry[];
}

/** The result of `SessionStore.post`. */
export interface PostAnswer {
  /** False if the conversation already has an entry with this id. Then nothing was added. */
  readonly added: boolean;
  readonly holder?: SessionHolder | undefined;
}

/** Selects the entries that `SessionStore.load` returns. Default: all of them. */
export interface RecordQuery {
  /**
   * The entries that the caller already has; only later entries are returned. Ignored if the conversation was deleted
   * and stored again since.
   */
  readonly known?: KnownRecord | undefined;
  /** With `context`, returns only the entries from the first one that the model reads. */
  readonly from?: 'start' | 'context' | undefined;
  /** Returns only entries whose position in the record is before this number. */
  readonly before?: number | undefined;
  /** The largest number of entries to return. If more entries are selected, returns the last ones. */
  readonly limit?: number | undefined;
}

/** Selects one page of an owner's sessions for `SessionStore.list`. */
export interface SessionQuery {
  readonly owner: string;
  /** Maximum number of sessions on the page, from 1 to 1,000. Default: 50. */
  readonly limit?: number | undefined;
  /** The `next` of the previous page. Leave it out to get the first page. */
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
  /** The sessions of this page. The session with the latest entry comes first. */
  readonly sessions: readonly SessionSummary[];
  /** Pass this value as `after` to get the next page. Undefined on the last page. */
  readonly next: string | undefined;
}

/**
 * Stores conversations, each as a record of entries. Each method is atomic. A run must claim a conversation before it
 * adds entries, and only one run at a time holds the claim. Only posts need no claim.
 *
 * Adding an entry whose id is already stored has no effect, so a caller may repeat a call after an error.
 */
export interface SessionStore {
  /**
   * Claims a conversation for one run, and returns the entries that the run needs. If the conversation is not stored,
   * creates an empty one, which `list` does not return.
   *
   * Refused while another token holds a claim that has not expired. A second call with the same token restarts the
   * lifetime of the claim.
   */
  claim(id: string, claim: SessionClaim): Awaitable<ClaimAnswer>;
  /**
   * Adds the entries that are not stored yet. With `release`, also ends the claim. Adds nothing if the caller's token
   * does not hold the claim.
   */
  append(id: string, append: SessionAppend): Awaitable<AppendAnswer>;
  /**
   * Restarts the lifetime of a claim. Returns false if the claim has ended, or if another run now holds the
   * conversation.
   */
  renew(id: string, renewal: SessionRenewal): Awaitable<boolean>;
  /**
   * Adds a post, which needs no claim. A request to stop a run is marked as dropped at once if the run is over: it
   * neither holds the claim nor waits for decisions.
   *
   * Returns undefined if the conversation is not stored.
   */
  post(id: string, post: Entry): Awaitable<PostAnswer | undefined>;
  /** Returns the entries that the query selects, or undefined if the conversation is not stored. */
  load(id: string, query?: RecordQuery): Awaitable<StoredRecord | undefined>;
  /** Returns one page of an owner's sessions. Leaves out sessions without entries. */
  list(query: SessionQuery): Awaitable<SessionPage>;
  /**
   * Changes the title or the data of a session, and returns its new summary. Returns undefined if the session has no
   * entries.
   */
  update(id: string, details: Omit<SessionDetails, 'owner'>): Awaitable<SessionSummary | undefined>;
  /** Deletes the conversation and its claim. */
  delete(id: string): Awaitable<void>;
  /**
   * Calls the listener after each new post. Returns a function that removes the listener. Optional: without it, a run
   * loads the conversation at intervals to find new posts.
   */
  watch?(id: string, listener: () => void): () => void;
}
