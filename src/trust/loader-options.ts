import type { AppOptions } from '../process/app-options.js';
import type { Approver } from './decision.js';
import type { TrustGate } from './gate.js';

/** Options that mean the same for every loader of items that may need an approval. */
export interface LoaderOptions extends AppOptions {
  /**
   * Asks the user to approve an item of the workspace. Without `approve` and `gate`, an item that was not approved before
   * is not used.
   */
  readonly approve?: Approver | undefined;
  /** A custom trust gate, used instead of a new gate with the other options about approvals. */
  readonly gate?: TrustGate | undefined;
}
