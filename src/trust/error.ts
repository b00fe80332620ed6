import { KeelsonError, type KeelsonErrorOptions } from '../errors.js';
import type { SpawnFailure } from '../process/spawn-failure.js';

/** Why no decision can be bound to an item. */
export type UnboundProblem = 'invalid' | 'unreadable' | 'outside' | 'too-large' | 'no-executable';

/** No digest can be made of an item, so nothing can be decided about it. */
export class ItemUnboundError extends KeelsonError {
  readonly code = 'ERR_TRUST_ITEM_UNBOUND';
  readonly problem: UnboundProblem;
  /** What is wrong with the program, with `no-executable`. */
  readonly failure: SpawnFailure | undefined;

  constructor(
    problem: UnboundProblem,
    message: string,
    options: KeelsonErrorOptions & { failure?: SpawnFailure } = {},
  ) {
    super(message, options);
    this.problem = problem;
    this.failure = options.failure;
  }
}

/** The file of approvals could not be read or written. */
export class TrustStoreError extends KeelsonError {
  readonly code = 'ERR_TRUST_STORE';
}
