import { describeError } from '../../errors.js';
import type { JsonValue } from '../../internal/json.js';
import { isPlainObject } from '../../internal/plain-data.js';
import { describeIssues, isStandardSchema, type StandardSchema } from '../../tools/standard-schema.js';
import { StateMismatchError, StateValueError } from '../error.js';

/** Converts a value that JSON cannot represent, such as a Map, to plain data and back. */
export interface StateCodec<T> {
  /** Returns plain data that JSON can represent. */
  encode(value: T): JsonValue;
  /** Returns the value for stored data. Throws if the data does not have the expected form. */
  decode(data: JsonValue): T;
}

/** Returns a value as a JSON string. Throws StateValueError if JSON would silently lose or change data. */
export function encodeState<T>(key: string, value: T, codec: StateCodec<T> | undefined): string {
  let text: string | undefined;
  try {
    const data: unknown = codec === undefined ? value : codec.encode(value);
    text = JSON.stringify(data, losslessReplacer(key));
  } catch (error) {
    if (error instanceof StateValueError) throw error;
    throw new StateValueError(key, describeError(error), error);
  }
  if (text === undefined)
    throw new StateValueError(key, 'the value must not be undefined; call `clearState` to remove a value');
  return text;
}

/** Returns the value of a JSON string. Throws StateMismatchError if the schema or codec refuses the value. */
export async function decodeState<T>(
  key: string,
  text: string,
  as: StandardSchema<unknown, T> | StateCodec<T> | undefined,
): Promise<T> {
  try {
    const data: JsonValue = JSON.parse(text);
    if (as === undefined) return data as T;
    if (!isStandardSchema(as)) return (as as StateCodec<T>).decode(data);
    const result = await as['~standard'].validate(data);
    if (result.issues === undefined) return result.value as T;
    throw new StateMismatchError(key, describeIssues(result.issues));
  } catch (error) {
    if (error instanceof StateMismatchError) throw error;
    throw new StateMismatchError(key, describeError(error), error);
  }
}

/** Returns a JSON replacer that throws on every value JSON would change, except undefined members, which it omits. */
function losslessReplacer(key: string) {
  return function replace(this: Readonly<Record<string, unknown>>, name: string, part: unknown): unknown {
    const isNulled = part === null && this[name] !== null;
    const problem = isNulled ? 'a value that JSON turns into null' : problemOf(part, Array.isArray(this));
    if (problem === undefined) return part;
    throw new StateValueError(key, name === '' ? `it is ${problem}` : `\`${name}\` is ${problem}`);
  };
}

function problemOf(part: unknown, isItem: boolean): string | undefined {
  if (part === undefined) return isItem ? 'undefined, in an array' : undefined;
  if (typeof part === 'function' || typeof part === 'symbol' || typeof part === 'bigint') return `a ${typeof part}`;
  if (typeof part === 'number') return Number.isFinite(part) ? undefined : String(part);
  if (typeof part !== 'object' || part === null || Array.isArray(part) || isPlainObject(part)) return undefined;
  return `an object of class ${part.constructor?.name ?? 'unknown'}`;
}
