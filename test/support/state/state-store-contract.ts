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
  /** Leaves out the cases that this function refuses. */
  readonly includes?: (title: string) => boolean;
}

/** The title of the case with 10,000 writes. A store that needs a millisecond per write runs it in test/soak. */
export const LONG_CASE = 'a scope with the maximum number of keys evicts the least recently used one';

/** Defines the tests that every state store must pass. */
export function testStateStore(
  name: string,
  open: () => Awaitable<OpenedStateStore>,
  { unitMs = 60_000, includes = () => true }: StateStoreSuite = {},
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
    for (const { name: title, run } of cases) if (includes(title)) test(title, run, 60_000);
  });
}
