import { describe, test } from 'vitest';
import type { Awaitable } from '../../../src/internal/promise.js';
import type { SessionStore } from '../../../src/state/session-store.js';
import { sessionStoreContract } from '../../../src/testing/testing.js';

/** The lifetime of sessions in the tested store, and a function that lets time pass. */
export interface SessionTime {
  readonly ttlMs?: number;
  pass(ms: number): Awaitable<void>;
}

/** Defines the tests that every session store must pass. `open` returns a new empty store for each test. */
export function testSessionStore(name: string, open: () => Awaitable<SessionStore>, time?: SessionTime): void {
  describe(`${name} fulfils the contract of a session store:`, () => {
    for (const { name: title, run } of sessionStoreContract({ open, ...time })) test(title, run, 30_000);
  });
}
