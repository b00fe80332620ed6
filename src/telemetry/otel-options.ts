import { OptionInvalidError } from '../errors.js';

/** Throws where an option has a name that nobody knows. */
export function assertKnown(options: object, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null) throw new OptionInvalidError('options', 'it is no object');
  const stray = Object.keys(options).find((key) => !known.includes(key));
  if (stray !== undefined) {
    throw new OptionInvalidError(stray, `there is no such option; there are ${known.join(', ')}`);
  }
}

/** Throws where a provider lacks the method that it is there for. */
export function assertProvider(option: string, value: unknown, method: string): void {
  if (value === undefined) return;
  const given = (typeof value === 'object' && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
  if (typeof given[method] !== 'function') {
    throw new OptionInvalidError(option, `it has no method \`${method}\``);
  }
}
