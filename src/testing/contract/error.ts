import { KeelsonError } from '../../errors.js';

/** A store violates its contract. The stack contains the line of the contract that failed. */
export class StoreContractError extends KeelsonError {
  readonly code = 'ERR_STORE_CONTRACT';
  readonly expected: unknown;
  readonly found: unknown;

  constructor(problem: string, { expected, found }: { readonly expected: unknown; readonly found: unknown }) {
    super(`The store violates the contract: ${problem}. Compare the store with the doc comments of its interface.`);
    this.expected = expected;
    this.found = found;
  }
}
