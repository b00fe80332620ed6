/** Levels of a value that can be written. The validator fails on fewer levels if its schema is recursive. */
const MAX_DEPTH = 1_000;
const PIECE_LENGTH = 65_536;

/** A value that is not JSON: it is cyclic or nested too deeply, or contains a value such as a function or a bigint. */
export class NotJsonError extends RangeError {}

/** An array or object that is being written. */
interface Level {
  readonly value: Readonly<Record<string, unknown>>;
  /** The names of the properties. Undefined for an array. */
  readonly keys: readonly string[] | undefined;
  readonly length: number;
  at: number;
}

/** Writes a value as JSON in pieces, so that the caller can pause between them. Throws a NotJsonError. */
export function* jsonPieces(value: unknown): Generator<string> {
  const levels: Level[] = [];
  let piece = begin(value, levels);
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    piece += level.at === level.length ? end(levels) : next(level, levels);
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

function next(level: Level, levels: Level[]): string {
  const { value, keys, at } = level;
  const comma = at === 0 ? '' : ',';
  level.at += 1;
  if (keys === undefined) return comma + begin(value[at], levels);
  const key = keys[at] as string;
  return `${comma}${JSON.stringify(key)}:${begin(value[key], levels)}`;
}

function begin(value: unknown, levels: Level[]): string {
  if (typeof value !== 'object' || value === null) return primitive(value);
  if (levels.length === MAX_DEPTH) throw new NotJsonError('It is nested too deeply to be checked.');
  const keys = Array.isArray(value) ? undefined : Object.keys(value);
  const length = keys?.length ?? (value as readonly unknown[]).length;
  levels.push({ value: value as Level['value'], keys, length, at: 0 });
  return keys === undefined ? '[' : '{';
}

function end(levels: Level[]): string {
  return levels.pop()?.keys === undefined ? ']' : '}';
}

function primitive(value: unknown): string {
  const text = typeof value === 'bigint' ? undefined : JSON.stringify(value);
  if (text === undefined) throw new NotJsonError('It holds a value that JSON cannot hold.');
  return text;
}
