import { describeError, KeelsonError } from '../errors.js';
import { plainText } from './plain-text.js';

const MAX_TEXT = 10_000;

/** Describes any thrown value in one line for a log, a status or a tool result. */
export function failureText(error: unknown): string {
  return plainText(error instanceof KeelsonError ? error.message : describeWithCause(error), MAX_TEXT);
}

/** Describes an error together with its cause: `fetch` puts the reason there. */
export function describeWithCause(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined ? describeError(error) : `${describeError(error)} (${describeError(cause)})`;
}
