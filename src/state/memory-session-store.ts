import { type Clock, systemClock } from '../internal/clock.js';
import { KeyedListeners } from './keyed-listeners.js';
import type { Entry } from './record/entry.js';
import type {
  AppendAnswer,
  ClaimAnswer,
  PostAnswer,
  RecordQuery,
  SessionAppend,
  SessionClaim,
  SessionDetails,
  SessionPage,
  SessionQuery,
  SessionRenewal,
  SessionStore,
  SessionSummary,
  StoredRecord,
} from './session-store.js';
import { StoredLog } from './stored-log.js';

/** Options of a MemorySessionStore. */
export interface MemorySessionStoreOptions {
  /**
   * The clock that decides when the claim of a run has expired, so that another run may claim the session. Default: the
   * system clock.
   */
  readonly clock?: Clock | undefined;
}

/** The result of `append` for a conversation that the store does not have. */
export const NOT_STORED: AppendAnswer = { owned: false, stored: false, released: false, length: 0, entries: [] };

/**
 * Stores sessions in the memory of this process. The sessions are lost when the process ends.
 *
 * @example
 * const store = new MemorySessionStore();
 * const support = new Agent({ name: 'support', model, store });
 * const sales = new Agent({ name: 'sales', model, store });
 */
export class MemorySessionStore implements SessionStore {
  private readonly clock: Clock;
  private readonly logs = new Map<string, StoredLog>();
  private readonly listeners = new KeyedListeners();

  constructor({ clock = systemClock }: MemorySessionStoreOptions = {}) {
    this.clock = clock;
  }

  claim(id: string, claim: SessionClaim): ClaimAnswer {
    const log = this.logs.get(id) ?? new StoredLog();
    const answer = log.claim(claim, this.clock.now());
    this.logs.set(id, log);
    return answer;
  }

  append(id: string, append: SessionAppend): AppendAnswer {
    return this.logs.get(id)?.append(append, this.clock.now()) ?? NOT_STORED;
  }

  renew(id: string, claim: SessionRenewal): boolean {
    return this.logs.get(id)?.renew(claim, this.clock.now()) ?? false;
  }

  post(id: string, post: Entry): PostAnswer | undefined {
    const answer = this.logs.get(id)?.post(post, this.clock.now());
    if (answer?.added) this.listeners.call(id);
    return answer;
  }

  load(id: string, query?: RecordQuery): StoredRecord | undefined {
    return this.logs.get(id)?.load(query);
  }

  /** Loads the code of lists at the first call, because many programs never list sessions. */
  async list(query: SessionQuery): Promise<SessionPage> {
    const { listSessions } = await import('./session-list.js');
    return listSessions(
      [...this.logs].map(([id, log]) => log.summary(id)),
      query,
    );
  }

  update(id: string, details: Omit<SessionDetails, 'owner'>): SessionSummary | undefined {
    const log = this.logs.get(id);
    if (log === undefined || log.length === 0) return undefined;
    log.update(details);
    return log.summary(id);
  }

  delete(id: string): void {
    this.logs.delete(id);
  }

  watch(id: string, listener: () => void): () => void {
    return this.listeners.add(id, listener);
  }
}
