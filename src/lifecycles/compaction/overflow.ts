import type { ModelError } from '../../model/run-error.js';

/** The result of `fittingShare` if the error names no token counts. */
const USUAL_RATIO = 0.5;
/** Smaller numbers in an error message are status codes, not token counts. */
const LEAST_TOKENS = 1_000;

/**
 * Returns the share of a request that fits into the model's context window.
 *
 * Most providers name the size of the request and of the window in the error. These are the two largest numbers in its
 * message.
 */
export function fittingShare({ message }: ModelError): number {
  const found = [...message.matchAll(/(?<![\w.-])\d[\d,_]*(?![\w.-]*[a-z])/gi)]
    .map(([digits]) => Number(digits.replace(/[,_]/g, '')))
    .filter((count) => count >= LEAST_TOKENS);
  const [largest = 0, second] = [...new Set(found)].sort((a, b) => b - a);
  return second === undefined ? USUAL_RATIO : second / largest;
}
