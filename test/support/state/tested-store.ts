import type { Awaitable } from '../../../src/internal/promise.js';
import type { SessionStore } from '../../../src/state/session-store.js';

/** A session store under test. */
export interface TestedStore {
  readonly name: string;
  /** Returns a new empty store. */
  open(): Awaitable<SessionStore>;
  /** Lets time pass for the store. */
  pass(ms: number): Awaitable<unknown>;
}
