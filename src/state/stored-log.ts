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

/** A claim, with the token that proves it. */
export interface HeldClaim extends SessionHolder {
  readonly token: string;
}

/** A claim is kept for this multiple of its lifetime while its process is known to be alive. */
export const KEPT_LIFETIMES = 10;

/**
 * The record and the claim of one conversation. Implements the rules of the store contract, without a clock and without
 * storage.
 */
export class StoredLog {
  uid = '';
  details: SessionDetails = {};
  createdAt = 0;
  updatedAt = 0;
  /** The position of the first entry that the model reads. */
  context = 0;
  /** The run whose calls wait for a decision. Null if nothing waits. */
  waits: string | null = null;
  held: HeldClaim | undefined = undefined;
  /** The number of entries before the first one in memory. */
  start = 0;
  /** Returns true for the id of an entry before `start`. */
  isOlder: (id: string) => boolean = () => false;
  readonly entries: Entry[] = [];
  /** The ids of entries in memory. `has` adds new entries, so that reading a log takes no time for the ids. */
  private readonly ids = new Set<string>();

  /** The number of entries. */
  get length(): number {
    return this.start + this.entries.length;
  }

  /** Returns the selected entries. */
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

  /** `isAlive` is true if the process of the expired claim is known to be alive. */
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

  /** Adds entries. Calls `added` with each new entry. */
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

  /** Adds a post. Drops a stop whose run neither holds the claim nor waits for decisions. */
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

  /** Adds an entry. Returns false if it is already stored. */
  add(entry: Entry, now: number): boolean {
    if (this.has(entry.id)) return false;
    this.put(entry, now);
    return true;
  }

  /** Adds a new entry. */
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

/** For a stop, returns its run and the entry that drops the stop. Returns undefined for another post. */
export function stopIn({ id, at, body }: Entry): { readonly run: string; readonly dropped: Entry } | undefined {
  if (body.type !== 'post' || body.post.type !== 'stop') return undefined;
  const why = 'That run does not own the conversation.';
  return { run: body.post.run, dropped: { id: `${id}:dropped`, at, body: { type: 'dropped', post: id, why } } };
}
