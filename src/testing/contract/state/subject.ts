import type { StatePolicy, StateScope, StateStore } from '../../../state/state-store.js';
import type { ContractSubject } from '../contract-case.js';

/** The store that a case tests. */
export interface StateSubject extends ContractSubject<StateStore> {
  /** The unit of time of the cases in milliseconds. */
  readonly unitMs: number;
  pass(ms: number): Promise<void>;
}

export const a: StateScope = { extension: 'a', session: 's' };
export const b: StateScope = { extension: 'b', session: 's' };
export const elsewhere: StateScope = { extension: 'a', session: 't' };

/** Opens a store, and returns policies in the unit of time of the subject. */
export async function start({ open, pass, unitMs }: StateSubject) {
  const roomy: StatePolicy = {
    ttlMs: 600 * unitMs,
    sessionTtlMs: 600 * unitMs,
    extensionBytes: 1_000_000,
    sessionBytes: 1_000_000,
  };
  return {
    store: await open(),
    unitMs,
    pass: (units: number) => pass(units * unitMs),
    roomy,
    tight: { ...roomy, extensionBytes: 14, sessionBytes: 24 },
    /** Values live for 4 units, sessions for 10. */
    short: { ...roomy, ttlMs: 4 * unitMs, sessionTtlMs: 10 * unitMs },
    /** Values expire with their session, after 4 units. */
    bound: { ...roomy, ttlMs: 4 * unitMs, sessionTtlMs: 4 * unitMs },
  };
}
