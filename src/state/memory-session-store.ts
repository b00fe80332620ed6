import { type Clock, systemClock } from '../internal/clock.js';
import type { Message } from '../model/message.js';
import { forkSession } from './session-fork.js';
import { listSessions } from './session-list.js';
import { SessionRecord } from './session-record.js';
import type {
  KnownSession,
  SessionChange,
  SessionClaim,
  SessionDetails,
  SessionFork,
  SessionPage,
  SessionQuery,
  SessionStore,
  SessionSummary,
  StoredSession,
} from './session-store.js';

/** Options of a MemorySessionStore. */
export interface MemorySessionStoreOptions {
  /** The clock that decides when a claim may be taken over. Default: the system clock. */
  readonly clock?: Clock | undefined;
}

/**
 * Stores sessions in the memory of this process. They are lost when the process ends.
 *
 * @example
 * const store = new MemorySessionStore();
 * const support = new Agent({ name: 'support', model, store });
 * const sales = new Agent({ name: 'sales', model, store });
 */
export class MemorySessionStore implements SessionStore {
  private readonly clock: Clock;
  private readonly sessions = new Map<string, SessionRecord<Message>>();

  constructor({ clock = systemClock }: MemorySessionStoreOptions = {}) {
    this.clock = clock;
  }

  load(id: string, known?: KnownSession): StoredSession | undefined {
    return this.sessions.get(id)?.since(known);
  }

  save(id: string, change: SessionChange, expected: number): number | undefined {
    const record = this.sessions.get(id) ?? new SessionRecord<Message>();
    const now = this.clock.now();
    if (!record.accepts(change, expected, now)) return undefined;
    const revision = record.save(change, now);
    this.sessions.set(id, record);
    return revision;
  }

  delete(id: string): void {
    this.sessions.delete(id);
  }

  claim(id: string, claim: SessionClaim): number | undefined {
    return this.sessions.get(id)?.claim(claim, this.clock.now());
  }

  renew(id: string, token: string, ttlMs: number): boolean {
    return this.sessions.get(id)?.renew(token, this.clock.now() + ttlMs) ?? false;
  }

  release(id: string, token: string): void {
    this.sessions.get(id)?.release(token);
  }

  list(query: SessionQuery): SessionPage {
    return listSessions(
      [...this.sessions].map(([id, record]) => record.summary(id)),
      query,
    );
  }

  update(id: string, details: Omit<SessionDetails, 'owner'>): SessionSummary | undefined {
    const record = this.sessions.get(id);
    record?.update(details);
    return record?.summary(id);
  }

  fork(id: string, fork: SessionFork): Promise<SessionSummary | undefined> {
    return forkSession(this, id, fork);
  }
}
