import type { SessionStore } from '../../../state/session-store.js';
import { type ContractCase, type ContractSubject, casesOf, passTime } from '../contract-case.js';
import { appendCases } from './appends.js';
import { claimCases } from './claims.js';
import { contentCases } from './content.js';
import { detailCases } from './details.js';
import { expiryCases } from './expiry.js';
import { listCases } from './lists.js';
import { loadCases } from './loads.js';
import { postCases } from './posts.js';

/** The session store to test. */
export interface SessionStoreContractOptions extends ContractSubject<SessionStore> {
  /** Milliseconds until an unused session expires. Undefined leaves out the cases of expiry. */
  readonly ttlMs?: number | undefined;
}

/**
 * Returns the tests that every session store must pass. A test rejects with a StoreContractError that names the expected
 * and the found value.
 *
 * @example
 * for (const { name, run } of sessionStoreContract({ open: () => new MyStore() })) test(name, run);
 */
export function sessionStoreContract(options: SessionStoreContractOptions): ContractCase[] {
  const { ttlMs } = options;
  const give = (store: SessionStore) => ({ store, pass: (ms: number) => passTime(options, ms) });
  const tables = [appendCases, claimCases, postCases, loadCases, contentCases, listCases, detailCases];
  const expiry = ttlMs === undefined ? [] : casesOf(options, (store) => ({ ...give(store), ttlMs }), [expiryCases]);
  return [...casesOf(options, give, tables), ...expiry];
}
