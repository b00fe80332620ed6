import type { StateStore } from '../../../state/state-store.js';
import { type ContractCase, type ContractSubject, casesOf } from '../contract-case.js';
import { batchCases } from './batches.js';
import { conditionCases } from './conditions.js';
import { lifetimeCases } from './lifetimes.js';
import { limitCases } from './limits.js';
import { policyCases } from './policies.js';
import { scopeCases } from './scopes.js';
import { stateSubject } from './subject.js';

/** The state store to test. */
export interface StateStoreContractOptions extends ContractSubject<StateStore> {
  /** The unit of the lifetimes in the cases, in milliseconds. Use a short one if `pass` really waits. Default: 150. */
  readonly unitMs?: number | undefined;
}

/**
 * Returns the tests that every state store must pass. A test rejects with a StoreContractError that names the expected
 * and the found value.
 *
 * @example
 * for (const { name, run } of stateStoreContract({ open: () => new MyStateStore() })) test(name, run);
 */
export function stateStoreContract(options: StateStoreContractOptions): ContractCase[] {
  const tables = [scopeCases, limitCases, lifetimeCases, conditionCases, policyCases, batchCases];
  return casesOf(options, (store) => stateSubject(store, options), tables);
}
