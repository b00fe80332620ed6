import type { Awaitable } from '../../../internal/promise.js';
import type { RunLog } from '../../../state/run-log/run-log.js';
import { type ContractCase, type ContractSubject, casesOf, passTime } from '../contract-case.js';
import { appendCases } from './appends.js';
import { boundCases, expiryCases } from './bounds.js';
import { closeCases } from './closes.js';
import { readCases } from './reads.js';

/** The run log to test. */
export interface RunLogContractOptions extends ContractSubject<RunLog> {
  /** The largest size of a log in bytes, at least 10,000. Default: 8 MiB. */
  readonly maxBytes?: number | undefined;
  /** Milliseconds until an unused log expires. Undefined leaves out the cases of expiry. */
  readonly ttlMs?: number | undefined;
  /** Opens the same data as another process does. Without it, each case reads and writes through one log. */
  reopen?(log: RunLog): Awaitable<RunLog>;
}

/**
 * Returns the tests that every run log must pass. A test rejects with a StoreContractError that names the expected and the
 * found value.
 *
 * @example
 * for (const { name, run } of runLogContract({ open: () => new MemoryRunLog() })) test(name, run);
 */
export function runLogContract(options: RunLogContractOptions): ContractCase[] {
  const { maxBytes = 8 * 1024 * 1024, ttlMs, reopen = (log) => log } = options;
  const give = (log: RunLog) => ({
    log,
    maxBytes,
    pass: (ms: number) => passTime(options, ms),
    reopen: () => reopen(log),
  });
  const expiry = ttlMs === undefined ? [] : casesOf(options, (log) => ({ ...give(log), ttlMs }), [expiryCases]);
  return [...casesOf(options, give, [appendCases, readCases, closeCases, boundCases]), ...expiry];
}
