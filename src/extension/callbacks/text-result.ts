import { HookResultInvalidError } from '../../errors.js';
import { isShortCircuit, type ShortCircuit } from '../short-circuit.js';

/**
 * Returns a check for the return value of `onPlainText` or `onTag`. The check returns `null` if the callback changes
 * nothing, and throws on a value of the wrong type.
 */
export function acceptText(callback: string) {
  return (returned: unknown): string | ShortCircuit | null => {
    if (returned === undefined) return null;
    if (typeof returned === 'string' || isShortCircuit(returned)) return returned;
    throw new HookResultInvalidError(`${callback} returns a string, shortCircuit(text) or nothing`, returned);
  };
}
