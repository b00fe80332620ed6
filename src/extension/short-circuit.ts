import { HookResultInvalidError } from '../errors.js';

/**
 * Of all copies of this library: an extension and its registry may have come by `import` and by `require`. No symbol,
 * whose type would be another one in each copy.
 */
const MARK = '~shortCircuit';

/** The last word of a callback: made by {@link shortCircuit}. */
export interface ShortCircuit {
  readonly [MARK]: true;
  readonly text: string;
}

/**
 * Returned by a callback, has no later one of its type called. From `onInputMessages` and `onLlmOutput` the text is the
 * run's result: no model call and no tool call follows. From `onPlainText` and `onTag` it stands for that piece or
 * section, and the run goes on.
 *
 * @example
 * const extensions = new ExtensionRegistry();
 * extensions.register({ id: 'closed', onInputMessages: () => shortCircuit('We are closed.') });
 */
export function shortCircuit(text: string): ShortCircuit {
  if (typeof text !== 'string') throw new HookResultInvalidError('shortCircuit takes a text', text);
  return { [MARK]: true, text };
}

/** Whether a callback said its last word. */
export function isShortCircuit(value: unknown): value is ShortCircuit {
  return typeof value === 'object' && value !== null && MARK in value;
}
