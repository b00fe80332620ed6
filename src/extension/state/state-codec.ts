import { describeError } from '../../errors.js';
import type { JsonValue } from '../../internal/json.js';
import { isPlainObject } from '../../internal/plain-data.js';
import { describeIssues, isStandardSchema, type StandardSchema } from '../../tools/standard-schema.js';
import { StateMismatchError, StateValueError } from '../error.js';

/** Turns a value that JSON cannot hold, such as a Map, into one that it can, and back. */
export interface StateCodec<T> {
  /** Plain data for a value. */
  encode(value: T): JsonValue;
  /** The value of such data. Throws where the data is not of its kind. */
  decode(data: JsonValue): T;
}

/** The JSON text of a value. Throws StateValueError where anything of it would be lost or changed in silence. */
export function encodeState<T>(key: string, value: T, codec: StateCodec<T> | undefined): string {
  let text: string | undefined;
  try {
    const data: unknown = codec === undefined ? value : codec.encode(value);
    text = JSON.stringify(data, keeperOf(key));
  } catch (error) {
    if (error instanceof StateValueError) throw error;
    throw new StateValueError(key, describeError(error), error);
  }
  if (text === undefined) throw new StateValueError(key, 'undefined is no value; `clearState` removes one');
  return text;
}

/** The value of a JSON text. */
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

/** Members that are undefined are left out, as JSON does; whatever else it cannot hold is refused. */
function keeperOf(key: string) {
  return function keep(this: Readonly<Record<string, unknown>>, name: string, part: unknown): unknown {
    const isEmptied = part === null && this[name] !== null;
    const problem = isEmptied ? 'a value that JSON makes null of' : problemOf(part, Array.isArray(this));
    if (problem === undefined) return part;
    throw new StateValueError(key, name === '' ? `it is ${problem}` : `\`${name}\` is ${problem}`);
  };
}

function problemOf(part: unknown, isItem: boolean): string | undefined {
  if (part === undefined) return isItem ? 'undefined, in a list' : undefined;
  if (typeof part === 'function' || typeof part === 'symbol' || typeof part === 'bigint') return `a ${typeof part}`;
  if (typeof part === 'number') return Number.isFinite(part) ? undefined : String(part);
  if (typeof part !== 'object' || part === null || Array.isArray(part) || isPlainObject(part)) return undefined;
  return `an object of class ${part.constructor?.name ?? 'unknown'}`;
}
