import type { JsonValue } from './json.js';
import { safeText } from './safe-text.js';

/** The value, and the keys that it lacks; or the fault. */
export type JsonReading = { readonly value: JsonValue; readonly lost: readonly LostKey[] } | JsonFault;

/** A key that is not in the value as it was written. */
export interface LostKey extends JsonPlace {
  /** From the top of the document. */
  readonly path: readonly PropertyKey[];
  readonly reason: 'repeated' | 'dropped';
}

/** Why a document is refused, and where. */
interface JsonFault extends JsonPlace {
  /** A whole sentence that includes the place. */
  readonly problem: string;
}

/** Counted from 1. */
interface JsonPlace {
  readonly line: number;
  readonly column: number;
}

/** How a document is read. */
export interface ReadJsonOptions {
  /** Accept comments, and a comma before a closing bracket, as editors do. Default false. */
  readonly comments?: boolean | undefined;
  /** Keys that are left out of every object, beside `__proto__`. */
  readonly drop?: readonly string[] | undefined;
}

const MAX_DEPTH = 64;
const MAX_LOST_KEYS = 1_000;

/**
 * Reads JSON that somebody else wrote, at most 64 levels deep. `__proto__` is left out, and of a key that an object has
 * twice only the last one counts: `lost` lists both. Skips a byte order mark. Never throws.
 */
export function readJson(text: string, { comments = false, drop = [] }: ReadJsonOptions = {}): JsonReading {
  const reader = new JsonReader(withoutMark(text), droppedKeys(drop), comments);
  try {
    return { value: reader.document(), lost: reader.lost };
  } catch (error) {
    if (error instanceof JsonFaultError) return error.fault;
    throw error;
  }
}

/** The same for JSON of any depth: deeper than 64 levels everything is null. Undefined if the string is not JSON. */
export function readJsonCut(text: string, drop: readonly string[] = []): JsonValue | undefined {
  try {
    return cut(JSON.parse(withoutMark(text)), droppedKeys(drop), 0);
  } catch {
    return undefined;
  }
}

/** Says what happened to a key, without its name: the path has that. */
export function lossText({ reason, line, column }: LostKey): string {
  const what =
    reason === 'dropped' ? 'not allowed: it is left out' : 'there twice in one object: only the last one counts';
  return `the key at line ${line}, column ${column} is ${what}`;
}

function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

function droppedKeys(drop: readonly string[]): ReadonlySet<string> {
  return new Set(['__proto__', ...drop]);
}

function cut(value: JsonValue, dropped: ReadonlySet<string>, level: number): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (level === MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.map((item) => cut(item, dropped, level + 1));
  const kept = Object.entries(value).filter(([key]) => !dropped.has(key));
  return Object.fromEntries(kept.map(([key, inner]) => [key, cut(inner, dropped, level + 1)]));
}

class JsonFaultError extends SyntaxError {
  constructor(readonly fault: JsonFault) {
    super(fault.problem);
  }
}

const BLANKS = /[ \t\n\r]+/y;
/** A comment without an end goes on to the end of the document. */
const BLANKS_AND_COMMENTS = /[ \t\n\r]+|\/\/[^\n\r]*|\/\*.*?(?:\*\/|$)/sy;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
/** An escape, the end of a string, or a character that a string must not hold. */
const STRING_MARK = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})|["\\]|(?![\u007f-\u009f])\p{Cc}/gu;

class JsonReader {
  readonly lost: LostKey[] = [];
  private at = 0;
  /** The keys and indexes from the top to where the reader is. */
  private readonly path: PropertyKey[] = [];
  private line = 1;
  private lineStart = 0;
  private counted = 0;

  constructor(
    private readonly text: string,
    private readonly dropped: ReadonlySet<string>,
    private readonly comments: boolean,
  ) {}

  document(): JsonValue {
    const value = this.value('a value');
    if (this.peek() !== undefined) throw this.unexpected('nothing more');
    return value;
  }

  private value(expected: string): JsonValue {
    const character = this.peek();
    if (character === '"') return this.string();
    if (character === '{' || character === '[') {
      if (this.path.length === MAX_DEPTH) throw this.fault(`it nests deeper than ${MAX_DEPTH} levels`);
      return character === '{' ? this.object() : this.array();
    }
    const begin = this.at;
    if (!this.skip(SCALAR)) throw this.unexpected(expected);
    return JSON.parse(this.text.slice(begin, this.at));
  }

  private array(): JsonValue {
    const items: JsonValue[] = [];
    this.list(']', 'a value', (expected) => {
      this.path.push(items.length);
      items.push(this.value(expected));
      this.path.pop();
    });
    return items;
  }

  private object(): JsonValue {
    const members = new Map<string, JsonValue>();
    this.list('}', 'a key in double quotes', (expected) => {
      if (this.peek() !== '"') throw this.unexpected(expected);
      const begin = this.at;
      const key = this.string();
      const isDropped = this.dropped.has(key);
      this.path.push(key);
      if (isDropped || members.has(key)) this.lose(isDropped ? 'dropped' : 'repeated', begin);
      if (!this.take(':')) throw this.unexpected('`:`');
      const value = this.value('a value');
      if (!isDropped) members.set(key, value);
      this.path.pop();
    });
    return Object.fromEntries(members);
  }

  /** Reads what a pair of brackets holds, from the opening one on. */
  private list(close: string, item: string, read: (expected: string) => void): void {
    this.at += 1;
    if (this.take(close)) return;
    read(`${item} or \`${close}\``);
    while (!this.take(close)) {
      if (!this.take(',')) throw this.unexpected(`\`,\` or \`${close}\``);
      if (this.comments && this.take(close)) return;
      read(item);
    }
  }

  private string(): string {
    const begin = this.at;
    STRING_MARK.lastIndex = begin + 1;
    for (let mark = STRING_MARK.exec(this.text); mark !== null; mark = STRING_MARK.exec(this.text)) {
      if (mark[0].length > 1) continue;
      this.at = mark.index;
      if (mark[0] === '\\') throw this.fault('invalid escape');
      if (mark[0] !== '"') throw this.fault(`a string must not hold ${this.found()}`);
      this.at += 1;
      return JSON.parse(this.text.slice(begin, this.at));
    }
    throw this.fault('this string has no end');
  }

  private lose(reason: LostKey['reason'], begin: number): void {
    if (this.lost.length === MAX_LOST_KEYS) throw this.fault(`more than ${MAX_LOST_KEYS} keys are there twice`);
    this.lost.push({ path: [...this.path], reason, ...this.placeOf(begin) });
  }

  private take(character: string): boolean {
    if (this.peek() !== character) return false;
    this.at += 1;
    return true;
  }

  /** The next character that is neither a blank nor part of a comment; undefined at the end. */
  private peek(): string | undefined {
    while (this.skip(this.comments ? BLANKS_AND_COMMENTS : BLANKS));
    return this.text[this.at];
  }

  private skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    if (!pattern.test(this.text)) return false;
    this.at = pattern.lastIndex;
    return true;
  }

  private unexpected(expected: string): JsonFaultError {
    return this.fault(`expected ${expected}, got ${this.found()}`);
  }

  private found(): string {
    const point = this.text.codePointAt(this.at);
    return point === undefined ? 'the end' : `"${safeText(String.fromCodePoint(point), { escape: true })}"`;
  }

  private fault(what: string): JsonFaultError {
    const place = this.placeOf(this.at);
    return new JsonFaultError({
      problem: `invalid JSON at line ${place.line}, column ${place.column}: ${what}`,
      ...place,
    });
  }

  /** Counts lines on from the last place: asked for a thousand places, it still reads the document once. */
  private placeOf(at: number): JsonPlace {
    for (const { index, 0: end } of this.text.slice(this.counted, at).matchAll(/\r\n?|\n/g)) {
      this.line += 1;
      this.lineStart = this.counted + index + end.length;
    }
    this.counted = at;
    return { line: this.line, column: at - this.lineStart + 1 };
  }
}
