import { describe, test } from 'vitest';
import type { Awaitable } from '../../../src/internal/promise.js';
import type { StateStore } from '../../../src/state/state-store.js';
import { stateStoreContract } from '../../../src/testing/testing.js';

/** An empty store, with a function that lets time pass. */
export interface OpenedStateStore {
  readonly store: StateStore;
  /** Moves the clock, or waits if the store uses another clock. */
  pass(ms: number): Awaitable<void>;
  close?(): Awaitable<void>;
}

export interface StateStoreSuite {
  /** The suite's unit of time in milliseconds. Use a short unit if `pass` really waits. */
  readonly unitMs?: number;
}

/** Defines the tests that every state store must pass. */
export function testStateStore(
  name: string,
  open: () => Awaitable<OpenedStateStore>,
  { unitMs = 60_000 }: StateStoreSuite = {},
): void {
  let opened: OpenedStateStore | undefined;
  const cases = stateStoreContract({
    unitMs,
    open: async () => {
      opened = await open();
      return opened.store;
    },
    pass: (ms) => opened?.pass(ms),
    close: () => opened?.close?.(),
  });
  describe(`${name} fulfils the contract of a state store:`, () => {
    for (const { name: title, run } of cases) test(title, run, 60_000);
  });
}
