import { UIBodyInvalidError } from './error.js';

/** Returns the error for an invalid value in the body of a request. `what` names the value. */
export function invalidBody(what: string, expected: string, value: unknown): UIBodyInvalidError {
  return new UIBodyInvalidError(`${what} must be ${expected}, got ${showValue(value)}`);
}

/** Returns a value as JSON, shortened for an error message. */
export function showValue(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
