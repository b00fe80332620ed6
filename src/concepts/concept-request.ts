import type { Awaitable } from '../internal/promise.js';

/** The request for the context of one concept. */
export interface ConceptRequest {
  readonly conceptName: string;
  readonly depth: number;
  readonly includeContent: boolean;
  readonly maxEntities: number;
}

/**
 * Returns the context of a concept as a string, or nothing. The signal aborts at the time limit.
 *
 * If a lookup fails, only its concept is left out. The error codes `ENOENT` and `ERR_CONCEPT_COMMAND_UNAVAILABLE` mean
 * that the program for lookups is not installed, which is logged at level `debug` only.
 */
export type BuildContext = (
  request: ConceptRequest,
  options: { readonly signal: AbortSignal },
) => Awaitable<string | undefined | null>;
