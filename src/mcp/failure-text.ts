import { describeError, KeelsonError } from '../errors.js';
import { safeText } from '../internal/safe-text.js';

const MAX_TEXT = 10_000;

/** Describes any thrown value in one line for a log, a status or a tool result. */
export function failureText(error: unknown): string {
  return safeText(error instanceof KeelsonError ? error.message : describeWithCause(error), { maxLength: MAX_TEXT });
}

/** Describes an error and its cause, since `fetch` gives the reason of a failure only in the cause. */
export function describeWithCause(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined ? describeError(error) : `${describeError(error)} (${describeError(cause)})`;
}
