import { KeelsonError } from '../errors.js';

/** The most keys that one extension may hold in one session: what was used longest ago makes room. */
export const MAX_SCOPE_KEYS = 10_000;
/** The longest key, in UTF-16 units. */
export const MAX_KEY_LENGTH = 512;

/** A key of extension state is empty, too long or no text. Nothing was read or changed. */
export class StateKeyError extends KeelsonError {
  readonly code = 'ERR_STATE_KEY';

  constructor(key: unknown) {
    const found = typeof key === 'string' ? `${key.length} characters` : `a ${typeof key}`;
    super(
      `A state key is text of 1 to ${MAX_KEY_LENGTH} characters, not ${found}. Choose a shorter name for the value.`,
    );
  }
}

/** Throws a StateKeyError unless the key can be used. */
export function checkStateKey(key: string): void {
  if (typeof key !== 'string' || key.length === 0 || key.length > MAX_KEY_LENGTH) throw new StateKeyError(key);
}

const encoder = new TextEncoder();

/** How many bytes a text takes in UTF-8. */
export function utf8Bytes(text: string): number {
  return encoder.encode(text).length;
}
