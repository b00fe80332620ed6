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
 * An error leaves out only this concept. An error with the code `ENOENT` or `ERR_CONCEPT_COMMAND_UNAVAILABLE` means
 * that the source of concepts is not installed.
 */
export type BuildContext = (
  request: ConceptRequest,
  options: { readonly signal: AbortSignal },
) => Awaitable<string | undefined | null>;
