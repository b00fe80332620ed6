import { HookResultInvalidError } from '../../errors.js';
import { isShortCircuit, type ShortCircuit } from '../short-circuit.js';

/** Takes what `onPlainText` or `onTag` returned; `null` stands for no change. */
export function acceptText(callback: string) {
  return (returned: unknown): string | ShortCircuit | null => {
    if (returned === undefined) return null;
    if (typeof returned === 'string' || isShortCircuit(returned)) return returned;
    throw new HookResultInvalidError(`${callback} returns a text, shortCircuit(text) or nothing`, returned);
  };
}
