import { isObject } from '../internal/json.js';

/**
 * Functions that read values as people write them in files of other programs, so that all readers share the same rules.
 *
 * Null counts as absent. A number or a boolean may be in quotes, and a number may stand for a string. Upper and lower
 * case do not matter in words. A value that does not fit stays unchanged, so that the caller can report it.
 */
export const loose = {
  /** Converts a number or a boolean to a string. */
  text: (value: unknown): unknown => (typeof value === 'number' || typeof value === 'boolean' ? String(value) : value),
  /** Converts a string such as `"10"` to a number. */
  number: (value: unknown): unknown =>
    typeof value === 'string' && /^\s*\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : value,
  /** Converts `"true"` and `"False"` to a boolean. */
  boolean: (value: unknown): unknown => {
    const word = loose.word(value);
    return word === 'true' || word === 'false' ? word === 'true' : value;
  },
  /** Removes blanks around a word, and converts it to lower case. */
  word: (value: unknown): unknown => (typeof value === 'string' ? value.trim().toLowerCase() : value),
  texts: (value: unknown): unknown => (Array.isArray(value) ? value.map(loose.text) : value),
  textMap: (value: unknown): unknown =>
    isObject(value)
      ? Object.fromEntries(Object.entries(loose.object(value)).map(([name, item]) => [name, loose.text(item)]))
      : value,
  /** Removes the members that are null from an object. */
  object: (value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
    Object.fromEntries(Object.entries(value).filter(([, item]) => item !== null)),
};
