import { isObject } from '../internal/json.js';

/**
 * Functions that read values as people write them in files of other programs. All readers share these rules. Null
 * counts as absent. A number or a boolean may be in quotes, and a number may stand for a string. Capitals of a word do
 * not matter. A value that does not fit stays unchanged, so that the caller can report it.
 */
export const loose = {
  /** Returns a string for a number or a boolean. */
  text: (value: unknown): unknown => (typeof value === 'number' || typeof value === 'boolean' ? String(value) : value),
  /** Returns a number for a string with a number, such as `"10"`. */
  number: (value: unknown): unknown =>
    typeof value === 'string' && /^\s*\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : value,
  /** Returns a boolean for `"true"` or `"False"`. */
  boolean: (value: unknown): unknown => {
    const word = loose.word(value);
    return word === 'true' || word === 'false' ? word === 'true' : value;
  },
  /** Returns a word in lower case and without blanks around it. */
  word: (value: unknown): unknown => (typeof value === 'string' ? value.trim().toLowerCase() : value),
  texts: (value: unknown): unknown => (Array.isArray(value) ? value.map(loose.text) : value),
  textMap: (value: unknown): unknown =>
    isObject(value)
      ? Object.fromEntries(Object.entries(loose.object(value)).map(([name, item]) => [name, loose.text(item)]))
      : value,
  /** Returns an object without the members that are null. */
  object: (value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
    Object.fromEntries(Object.entries(value).filter(([, item]) => item !== null)),
};
