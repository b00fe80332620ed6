import type { StateChange, StatePolicy, StateScope, StateStore } from '../../../state/state-store.js';
import { type ContractSubject, passTime } from '../contract-case.js';

/** The store that a case tests, with policies whose lifetimes are multiples of `unitMs`. */
export type StateSubject = ReturnType<typeof stateSubject>;

interface StateTime extends Pick<ContractSubject<StateStore>, 'pass'> {
  readonly unitMs?: number | undefined;
}

export const a: StateScope = { extension: 'a', session: 's' };
export const b: StateScope = { extension: 'b', session: 's' };
export const elsewhere: StateScope = { extension: 'a', session: 't' };

/** The result of a write that was stored. */
export function stored(bytesBefore: number, bytesAfter: number, evicted: StateChange['evicted'] = []): StateChange {
  return { stored: true, evicted, bytesBefore, bytesAfter };
}

export function stateSubject(store: StateStore, options: StateTime) {
  const { unitMs = 150 } = options;
  const roomy: StatePolicy = {
    ttlMs: 600 * unitMs,
    sessionTtlMs: 600 * unitMs,
    extensionBytes: 1_000_000,
    sessionBytes: 1_000_000,
  };
  return {
    store,
    unitMs,
    pass: (units: number) => passTime(options, units * unitMs),
    roomy,
    tight: { ...roomy, extensionBytes: 14, sessionBytes: 24 },
    /** Values live for 4 units, sessions for 10. */
    short: { ...roomy, ttlMs: 4 * unitMs, sessionTtlMs: 10 * unitMs },
    /** Values expire with their session, after 4 units. */
    bound: { ...roomy, ttlMs: 4 * unitMs, sessionTtlMs: 4 * unitMs },
  };
}
