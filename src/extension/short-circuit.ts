import { HookResultInvalidError } from '../errors.js';

/**
 * Marks the object. A string and not a symbol, so that an extension loaded with `require` type-checks in a registry
 * loaded with `import`.
 */
const MARK = '~shortCircuit';

/** The return value of {@link shortCircuit}. */
export interface ShortCircuit {
  readonly [MARK]: true;
  readonly text: string;
}

/**
 * Lets a callback end its pass: later callbacks of the same type are not called. From `onInputMessages` and
 * `onLlmOutput`, the string becomes the run's result, without further model or tool calls. From `onPlainText` and
 * `onTag`, it replaces that piece or section, and the run continues.
 *
 * @example
 * const extensions = new ExtensionRegistry();
 * extensions.register({ id: 'closed', onInputMessages: () => shortCircuit('We are closed.') });
 */
export function shortCircuit(text: string): ShortCircuit {
  if (typeof text !== 'string') throw new HookResultInvalidError('shortCircuit takes a string', text);
  return { [MARK]: true, text };
}

export function isShortCircuit(value: unknown): value is ShortCircuit {
  return typeof value === 'object' && value !== null && MARK in value;
}
