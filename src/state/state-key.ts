import { KeelsonError } from '../errors.js';

/** Maximum number of keys of one extension in one session. One more key evicts the least recently used key. */
export const MAX_SCOPE_KEYS = 10_000;
/** Maximum length of a key in UTF-16 code units. */
export const MAX_KEY_LENGTH = 512;

/**
 * A key of extension state is invalid: empty, longer than 512 UTF-16 code units, or not a string. Thrown before
 * anything is read or changed.
 */
export class StateKeyError extends KeelsonError {
  readonly code = 'ERR_STATE_KEY';

  constructor(key: unknown) {
    const found = typeof key === 'string' ? `${key.length} characters` : `a ${typeof key}`;
    super(
      `A state key must be a string of 1 to ${MAX_KEY_LENGTH} characters, got ${found}. Choose another key for the value.`,
    );
  }
}

/** Throws a StateKeyError if the key is invalid. */
export function checkStateKey(key: string): void {
  if (typeof key !== 'string' || key.length === 0 || key.length > MAX_KEY_LENGTH) throw new StateKeyError(key);
}

/** Returns the size of a stored value in bytes of UTF-8: its key and its string. */
export function entryBytes(key: string, text: string): number {
  return utf8Bytes(key) + utf8Bytes(text);
}

const encoder = new TextEncoder();

/** Returns the length of a string in bytes of UTF-8. */
export function utf8Bytes(text: string): number {
  return encoder.encode(text).length;
}
