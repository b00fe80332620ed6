import { type Clock, repeat } from '../../internal/clock.js';
import { createDeferred } from '../../internal/promise.js';
import type { RunError } from '../../model/run-error.js';
import { type Entry, isOnPath, type Post } from '../../state/record/entry.js';
import { SessionRecord } from '../../state/record/session-record.js';
import type { SessionAppend, SessionStore } from '../../state/session-store.js';
import type { RunClaim } from '../run/run-parts.js';
import type { RunLogWriter } from './log/run-log-writer.js';
import { SessionLostError, SessionStoreError } from './session-error.js';

/** Milliseconds between two reads of new messages and stop requests, if the store cannot announce them. */
const LOOK_MS = 1_000;

/** A conversation that a run has claimed. */
export interface ClaimedSession {
  readonly store: SessionStore;
  readonly id: string;
  readonly record: SessionRecord;
  readonly token: string;
  /** The run that holds the claim. */
  readonly run: string;
  readonly ttlMs: number;
  /** The time after which another run may take over, counted from the request of the claim. */
  readonly until: number;
  readonly clock: Clock;
}

/** The run that holds a claim. */
export interface ClaimOwner {
  /** Ends the run, because another run has taken over the conversation. */
  abort(error: RunError): void;
  /** Handles new messages and stop requests. Not called after the run has released the conversation. */
  take(posts: readonly Post[]): void;
}

/**
 * The claim of one run on its conversation. Sends one append at a time, with all entries that were added meanwhile.
 *
 * Renews itself every third of its duration until it is released. The claim of a durable run has no time limit.
 */
export class Claim implements RunClaim {
  owner: ClaimOwner | undefined = undefined;
  onEntry: RunClaim['onEntry'] = undefined;
  /** The log of the run's events. Buffered events are written before the claim ends. */
  log: RunLogWriter | undefined = undefined;
  /** The time after which another run may take over. */
  private until: number;
  private isHeld = true;
  private isRenewing = false;
  private waiting: Entry[] = [];
  private options: Pick<SessionAppend, 'context' | 'waits' | 'release'> = {};
  private flushing: Promise<void> | undefined = undefined;
  private waitsFor: string | undefined = undefined;
  private stopRenewals = () => {};

  constructor(private readonly session: ClaimedSession) {
    this.until = session.until;
    this.startRenewals();
  }

  /** Adds an entry to the next append. */
  add(entry: Entry): void {
    this.waiting.push(entry);
    this.onEntry?.(entry);
  }

  /** Sets members of the next append besides its entries. */
  set(options: Pick<SessionAppend, 'context' | 'waits'>): void {
    this.options = { ...this.options, ...options };
  }

  /**
   * Appends the added entries. With `looks`, sends even an empty append, because its answer has new messages and stop
   * requests.
   *
   * Rejects with a SessionStoreError if the store fails; a later flush tries again. Rejects with a SessionLostError if
   * the run has lost its claim.
   */
  flush(looks = false): Promise<void> {
    return this.waiting.length === 0 && !looks ? (this.flushing ?? Promise.resolve()) : this.appendNext(looks);
  }

  /**
   * Appends the added entries, and releases the claim. If the store fails, the claim expires later; the claim of a
   * durable run stays until `session.break()`.
   *
   * With `unlessPosted`, keeps the claim and resolves with false if messages of callers wait or arrive meanwhile.
   */
  async release(unlessPosted = false): Promise<boolean> {
    const { record } = this.session;
    this.stopRenewals();
    await this.log?.flush();
    await this.flushing?.catch(() => {});
    this.set({ context: contextAfter(record, this.waiting) });
    let isStopped = false;
    while (this.isHeld && (!unlessPosted || isStopped || record.posts.waiting.length === 0)) {
      const posts = await this.append({ release: true });
      isStopped ||= posts.some(({ type }) => type === 'stop');
    }
    if (this.isHeld) this.startRenewals();
    return !this.isHeld;
  }

  /**
   * Renews the claim if it has expired, and resolves when the store confirms it. Returns undefined if the claim has not
   * expired.
   */
  ready(): Promise<void> | undefined {
    return this.session.clock.now() < this.until ? undefined : this.renew();
  }

  /**
   * Stores the question that this run asks a person, so that the error of a waiting run can name it. Pass undefined
   * after the answer.
   */
  waitFor(question: string | undefined): void {
    this.waitsFor = question;
    this.renew().catch(() => {});
  }

  /** Sends an append after the append in progress has ended. */
  private appendNext(looks: boolean): Promise<void> {
    const before = this.flushing?.catch(() => {}) ?? Promise.resolve();
    const flushing = before.then(async () => {
      if (this.isRenewing || !looks) await this.append({ looks });
    });
    this.flushing = flushing;
    const forget = () => {
      if (this.flushing === flushing) this.flushing = undefined;
    };
    flushing.then(forget, forget);
    return flushing;
  }

  /** Sends one append. Returns the messages and stop requests that others have added since the last append. */
  private async append({ release = false, looks = false }): Promise<readonly Post[]> {
    const { store, id, record, token } = this.session;
    const entries = this.waiting;
    if (!this.isHeld) throw new SessionLostError(id);
    if (entries.length === 0 && !release && !looks) return [];
    this.waiting = [];
    const { length, uid = '' } = record;
    try {
      const answer = await store.append(id, { ...this.options, token, length, entries, release });
      const isDone = answer.stored && (answer.owned || release);
      if (!isDone) throw this.lose();
      // The record may have been loaded during the append.
      record.take({ uid, offset: length, entries: [...answer.entries, ...entries] });
      this.options = {};
      const posts = answer.entries.flatMap(({ body }) => (body.type === 'post' ? [body.post] : []));
      if (posts.length > 0 && this.isRenewing) this.owner?.take(posts);
      if (answer.released || !answer.owned) this.end();
      return posts;
    } catch (error) {
      if (error instanceof SessionLostError) throw error;
      this.waiting = [...entries, ...this.waiting];
      throw new SessionStoreError(id, 'saved', error);
    }
  }

  private async renew(): Promise<void> {
    const { store, id, token, ttlMs, clock } = this.session;
    const now = clock.now();
    const { waitsFor } = this;
    let isRenewed: boolean;
    try {
      isRenewed = await store.renew(id, { token, ttlMs, waitsFor });
    } catch (error) {
      throw new SessionStoreError(id, 'claimed', error);
    }
    if (!isRenewed) throw this.lose();
    this.until = Math.max(this.until, now + ttlMs);
  }

  /** Ends the run because it has lost the conversation. */
  lose(): SessionLostError {
    const error = new SessionLostError(this.session.id);
    if (this.isHeld) {
      this.end();
      this.owner?.abort(error);
    }
    return error;
  }

  private end(): void {
    this.isHeld = false;
    this.stopRenewals();
  }

  private startRenewals(): void {
    const { session } = this;
    const { ttlMs, until, clock } = session;
    // The store may work again at the next renewal.
    const stopRenewing =
      until === Number.POSITIVE_INFINITY ? () => {} : repeat(() => this.renew(), Math.max(1, ttlMs / 3), clock);
    const unwatch = watchPosts(session, () => this.flush(true));
    this.isRenewing = true;
    this.stopRenewals = () => {
      this.isRenewing = false;
      unwatch();
      stopRenewing();
    };
  }
}

/** Releases the claim of a token, even if messages were added meanwhile. Does nothing if the token holds no claim. */
export async function endClaim(store: SessionStore, id: string, token: string): Promise<void> {
  for (let length = 0, isHeld = true; isHeld; ) {
    const answer = await store.append(id, { token, length, entries: [], release: true });
    length = answer.length;
    isHeld = answer.owned && !answer.released;
  }
}

type WatchedSession = Pick<ClaimedSession, 'store' | 'id' | 'clock'>;

/**
 * Calls `look` when a message or a stop request was added, or every second if the store cannot announce them. Returns a
 * function that ends the watch.
 */
export function watchPosts({ store, id, clock }: WatchedSession, look: () => Promise<void>): () => void {
  if (store.watch === undefined) return repeat(look, LOOK_MS, clock);
  let isWatching = true;
  let posted = createDeferred<void>();
  const unwatch = store.watch(id, () => posted.resolve());
  // Cloudflare Workers do not let one request do I/O for another. Code behind an `await` runs in the request that awaits.
  void (async () => {
    for (;;) {
      await posted.promise;
      if (!isWatching) return;
      posted = createDeferred();
      await look().catch(() => {});
    }
  })();
  return () => {
    isWatching = false;
    unwatch();
    posted.resolve();
  };
}

/** Returns the position of the first entry that the model needs, after these entries are added. A summary moves it. */
function contextAfter(record: SessionRecord, entries: readonly Entry[]): number {
  const first = entries.find(isOnPath);
  const isNext = first === undefined || first.parent === record.tip;
  if (isNext && !entries.some(({ body }) => body.type === 'summary')) return record.context;
  const next = new SessionRecord();
  next.offset = record.offset;
  for (const entry of [...record.entries, ...entries]) next.add(entry);
  return next.context;
}
