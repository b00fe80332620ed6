import { KeelsonError, type KeelsonErrorOptions } from '../errors.js';
import type { SpawnFailure } from '../process/spawn-failure.js';

/** The reason why no fingerprint can be computed. */
export type UnboundProblem = 'invalid' | 'unreadable' | 'outside' | 'too-large' | 'no-executable';

/** Thrown if no fingerprint of an item can be computed, so that it cannot be approved. */
export class ItemUnboundError extends KeelsonError {
  readonly code = 'ERR_TRUST_ITEM_UNBOUND';
  readonly problem: UnboundProblem;
  /** The problem with the program. Set only with `no-executable`. */
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

/** Thrown if the approval file cannot be read or written. */
export class TrustStoreError extends KeelsonError {
  readonly code = 'ERR_TRUST_STORE';
}
