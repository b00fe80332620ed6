import { type Clock, systemClock } from '../internal/clock.js';
import { SessionState } from './session-state.js';
import { checkStateKey } from './state-key.js';
import { checkStatePolicy } from './state-policy.js';
import type { StateChange, StateEntry, StatePolicy, StateScope, StateStats, StateStore } from './state-store.js';

/**
 * Number of sessions that each call of the store checks for expired values. A call adds at most one session, so two
 * checks are enough to find all expired sessions in time.
 */
const SWEPT_PER_CALL = 2;

/** Options of a MemoryStateStore. */
export interface MemoryStateStoreOptions {
  /** The clock that decides when values expire. Default: the system clock. */
  readonly clock?: Clock | undefined;
}

/**
 * Stores the state of extensions in the memory of this process. Expired values are freed by later calls, a few at a
 * time. The store starts no timer.
 *
 * @example
 * const state = new MemoryStateStore();
 * const extensions = new ExtensionRegistry({ state });
 */
export class MemoryStateStore implements StateStore {
  private readonly clock: Clock;
  private readonly sessions: Map<string, SessionState> = new Map();
  private swept: MapIterator<[string, SessionState]>;

  constructor({ clock = systemClock }: MemoryStateStoreOptions = {}) {
    this.clock = clock;
    this.swept = this.sessions.entries();
  }

  get({ session, extension }: StateScope, key: string, policy: StatePolicy): string | undefined {
    checkStateKey(key);
    checkStatePolicy(policy);
    const now = this.sweep();
    return this.sessions.get(session)?.get(extension, key, { now, policy });
  }

  set({ session, extension }: StateScope, entry: StateEntry, policy: StatePolicy): StateChange {
    checkStateKey(entry.key);
    checkStatePolicy(policy);
    const now = this.sweep();
    const state = this.sessions.get(session) ?? new SessionState();
    const change = state.set(extension, entry, { now, policy });
    if (!state.isEmpty) this.sessions.set(session, state);
    return change;
  }

  clear({ session, extension }: StateScope, key?: string): number {
    if (key !== undefined) checkStateKey(key);
    return this.clearIn(session, (state) => state.clear(extension, key));
  }

  clearExtension(extension: string): number {
    let count = 0;
    for (const session of this.sessions.keys()) count += this.clear({ session, extension });
    return count;
  }

  clearSession(session: string): number {
    return this.clearIn(session, (state) => state.clear());
  }

  touch(session: string, policy: StatePolicy): void {
    checkStatePolicy(policy);
    const now = this.sweep();
    this.purged(session, now)?.touch({ now, policy });
  }

  stats(session: string): StateStats {
    return (this.purged(session, this.sweep()) ?? new SessionState()).stats();
  }

  private clearIn(session: string, clear: (state: SessionState) => number): number {
    const state = this.purged(session, this.sweep());
    if (state === undefined) return 0;
    const count = clear(state);
    if (state.isEmpty) this.sessions.delete(session);
    return count;
  }

  /** Returns the state of a session without expired values, or undefined if no value is left. */
  private purged(session: string, now: number): SessionState | undefined {
    const state = this.sessions.get(session);
    state?.purge(now);
    if (!state?.isEmpty) return state;
    this.sessions.delete(session);
    return undefined;
  }

  /** Removes expired values from the next few sessions, in turn over all calls. Returns the current time. */
  private sweep(): number {
    const now = this.clock.now();
    for (let count = 0; count < SWEPT_PER_CALL; count += 1) {
      const next = this.swept.next();
      if (next.done) {
        this.swept = this.sessions.entries();
        break;
      }
      this.purged(next.value[0], now);
    }
    return now;
  }
}
