import type { Awaitable } from '../internal/promise.js';

/** What is asked for about one concept. */
export interface ConceptRequest {
  readonly conceptName: string;
  readonly depth: number;
  readonly includeContent: boolean;
  readonly maxEntities: number;
}

/**
 * Gives the text that is known about a concept, or nothing. The signal fires when its time is up. A failure leaves out
 * this concept alone; one with the code `ENOENT` or `ERR_CONCEPT_COMMAND_UNAVAILABLE` says that there is nobody to ask.
 */
export type BuildContext = (
  request: ConceptRequest,
  options: { readonly signal: AbortSignal },
) => Awaitable<string | undefined | null>;
