import { HookResultInvalidError } from '../../errors.js';
import { isShortCircuit, type ShortCircuit } from '../short-circuit.js';

/** Checks the return value of `onPlainText` or `onTag`. Returns `null` for no change. */
export function acceptText(callback: string) {
  return (returned: unknown): string | ShortCircuit | null => {
    if (returned === undefined) return null;
    if (typeof returned === 'string' || isShortCircuit(returned)) return returned;
    throw new HookResultInvalidError(`${callback} returns a string, shortCircuit(text) or nothing`, returned);
  };
}
