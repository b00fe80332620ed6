import type { Entry } from './record/entry.js';
import { copyDetails } from './session-details.js';
import type {
  AppendAnswer,
  ClaimAnswer,
  PostAnswer,
  RecordQuery,
  SessionAppend,
  SessionClaim,
  SessionDetails,
  SessionHolder,
  SessionRenewal,
  SessionSummary,
  StoredRecord,
} from './session-store.js';

/** The claim of a run on a conversation, with the token that proves it. */
export interface HeldClaim extends SessionHolder {
  readonly token: string;
}

/** While the process of a run is known to be alive, its claim lasts for this many lifetimes without a renewal. */
export const KEPT_LIFETIMES = 10;

/**
 * The entries and the claim of one conversation. Implements the rules of `SessionStore` for any storage. The caller
 * passes the time, and stores the entries.
 */
export class StoredLog {
  uid = '';
  details: SessionDetails = {};
  createdAt = 0;
  updatedAt = 0;
  /** The position of the first entry that the next model call needs. */
  context = 0;
  /** The id of the run that waits for a decision. Null if no run waits. */
  waits: string | null = null;
  held: HeldClaim | undefined = undefined;
  /** The number of older entries that are stored but not in memory. */
  start = 0;
  /** Returns true if one of the older entries that are not in memory has this id. */
  isOlder: (id: string) => boolean = () => false;
  readonly entries: Entry[] = [];
  /**
   * The ids of the entries in memory. Filled by `has` on its first use, so that reading a log does not take time for
   * it.
   */
  private readonly ids = new Set<string>();

  /** The number of entries, including entries that are not in memory. */
  get length(): number {
    return this.start + this.entries.length;
  }

  /** Returns the entries that the query selects. */
  load({
    known,
    from = 'start',
    before = this.length,
    limit = Number.POSITIVE_INFINITY,
  }: RecordQuery = {}): StoredRecord {
    const { uid, length, holder } = this;
    const isKnown = known?.uid === uid && known.length <= length;
    const first = from === 'context' ? this.context : 0;
    const offset = Math.max(isKnown ? known.length : first, before - limit);
    return { uid, length, offset, entries: this.slice(offset, before), ...(holder && { holder }) };
  }

  /**
   * Claims the conversation for a run. Refuses the claim while another claim has not expired, or while the process of
   * the other run is known to be alive (`isAlive`).
   */
  claim(claim: SessionClaim, now: number, isAlive = false): ClaimAnswer {
    const { token, run, by, ttlMs, known, details = {} } = claim;
    const { held } = this;
    const isOther = held !== undefined && held.token !== token;
    if (isOther && (held.until > now || isAlive)) return { claimed: false, holder: this.holder as SessionHolder };
    if (this.uid === '') this.uid = crypto.randomUUID();
    if (this.length === 0) this.details = { ...this.details, ...copyDetails(details) };
    this.held = { token, run, by, until: now + ttlMs };
    const record = this.load({ known, from: 'context' });
    return { ...record, claimed: true, ...(isOther && { lost: held.run }) };
  }

  /** Adds the entries that are not stored yet, if the token holds the claim. Calls `added` with each of them. */
  append(append: SessionAppend, now: number, added: (entry: Entry) => void = () => {}): AppendAnswer {
    const { token, length, entries, context, waits, release } = append;
    const isHolder = this.held?.token === token;
    const own = new Set(entries.map(({ id }) => id));
    const others = this.slice(length).filter(({ id }) => !own.has(id));
    if (isHolder) {
      for (const entry of entries) if (this.add(entry, now)) added(entry);
      this.context = context ?? this.context;
      if (waits !== undefined) this.waits = waits;
    }
    const released = isHolder && release === true && others.length === 0;
    if (released) this.held = undefined;
    const stored = entries.every(({ id }) => this.has(id));
    return { owned: isHolder, stored, released, length: this.length, entries: others };
  }

  renew({ token, ttlMs, waitsFor }: SessionRenewal, now: number): boolean {
    if (this.held?.token !== token) return false;
    this.held = { ...this.held, until: now + ttlMs, waitsFor };
    return true;
  }

  /**
   * Adds a post, and calls `added` with each new entry. Drops a request to stop a run if the run neither holds the
   * claim nor waits for decisions.
   */
  post(post: Entry, now: number, added: (entry: Entry) => void = () => {}): PostAnswer {
    const isNew = this.add(post, now);
    if (isNew) {
      added(post);
      const stop = stopIn(post);
      const isDropped = stop !== undefined && stop.run !== (this.held?.run ?? this.waits);
      if (isDropped && this.add(stop.dropped, now)) added(stop.dropped);
    }
    const { holder } = this;
    return { added: isNew, ...(holder && { holder }) };
  }

  /** Sets the title and the data if they are given. Returns false if neither is given. */
  update({ title, data }: SessionDetails): boolean {
    this.details = { ...this.details, ...copyDetails({ title, data }) };
    return title !== undefined || data !== undefined;
  }

  summary(id: string): SessionSummary {
    const { details, length, createdAt, updatedAt } = this;
    return { ...copyDetails(details), id, length, createdAt, updatedAt };
  }

  /** Adds an entry. Returns false if an entry with this id is already stored. */
  add(entry: Entry, now: number): boolean {
    if (this.has(entry.id)) return false;
    this.put(entry, now);
    return true;
  }

  /** Adds an entry that is known to be new. */
  put(entry: Entry, now: number): void {
    if (this.length === 0) this.createdAt = now;
    this.updatedAt = now;
    this.entries.push(entry);
  }

  private has(id: string): boolean {
    const { entries, ids } = this;
    for (let at = ids.size; at < entries.length; at++) ids.add((entries[at] as Entry).id);
    return ids.has(id) || this.isOlder(id);
  }

  private slice(from: number, to = this.length): Entry[] {
    return this.entries.slice(Math.max(0, from - this.start), Math.max(0, to - this.start));
  }

  private get holder(): SessionHolder | undefined {
    if (this.held === undefined) return undefined;
    const { token: _token, ...holder } = this.held;
    return holder;
  }
}

/**
 * If a post asks to stop a run, returns the id of the run and an entry that drops the request. Otherwise returns
 * undefined.
 */
export function stopIn({ id, at, body }: Entry): { readonly run: string; readonly dropped: Entry } | undefined {
  if (body.type !== 'post' || body.post.type !== 'stop') return undefined;
  const why = 'That run does not own the conversation.';
  return { run: body.post.run, dropped: { id: `${id}:dropped`, at, body: { type: 'dropped', post: id, why } } };
}
