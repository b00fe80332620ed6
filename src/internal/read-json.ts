import type { JsonValue } from './json.js';
import { safeText } from './safe-text.js';

/** The parsed value with a list of the keys that it lacks, or the reason why parsing failed. */
export type JsonReading = { readonly value: JsonValue; readonly lost: readonly LostKey[] } | JsonFault;

/** A key of the document that the parsed value lacks, or of which it has only the last value. */
export interface LostKey extends JsonPlace {
  /** Path of the key from the root of the document. */
  readonly path: readonly PropertyKey[];
  readonly reason: 'repeated' | 'dropped';
}

/** The reason why a document is invalid, and its position. */
interface JsonFault extends JsonPlace {
  /** The complete message, including the position. */
  readonly problem: string;
}

/** A position in a document. Lines and columns count from 1. */
interface JsonPlace {
  readonly line: number;
  readonly column: number;
}

/** Options for reading JSON. */
export interface ReadJsonOptions {
  /** Accepts comments and trailing commas. Default false. */
  readonly comments?: boolean | undefined;
  /** Keys to leave out of every object, in addition to `__proto__`. */
  readonly drop?: readonly string[] | undefined;
}

const MAX_DEPTH = 64;
const MAX_LOST_KEYS = 1_000;

/**
 * Parses untrusted JSON of at most 64 levels. Never throws, and skips a byte order mark.
 *
 * Leaves out `__proto__`. For a repeated key, the last value is used. `lost` lists both kinds of keys.
 *
 * See docs/decisions/0075-one-reader-of-json.md.
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

/**
 * Explains why a key was lost, without its name, because the caller prints the path. With `isRefused`, adds that the
 * whole file is not used.
 */
export function lossText({ reason, line, column }: LostKey, isRefused = false): string {
  const isDropped = reason === 'dropped';
  const what = isDropped ? 'not allowed' : 'repeated in its object';
  const effect = isDropped ? ' and was left out' : ': only the last value is used';
  return `the key at line ${line}, column ${column} is ${what}${isRefused ? ', so the file is refused: remove it' : effect}`;
}

function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

function droppedKeys(drop: readonly string[]): ReadonlySet<string> {
  return new Set(['__proto__', ...drop]);
}

class JsonFaultError extends SyntaxError {
  constructor(readonly fault: JsonFault) {
    super(fault.problem);
  }
}

const BLANKS = /[ \t\n\r]+/y;
/** An unterminated comment extends to the end of the document. */
const BLANKS_AND_COMMENTS = /[ \t\n\r]+|\/\/[^\n\r]*|\/\*.*?(?:\*\/|$)/sy;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
/** Matches an escape, the end of a string, or a character that JSON does not allow in a string. */
const STRING_MARK = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})|["\\]|(?![\u007f-\u009f])\p{Cc}/gu;

class JsonReader {
  readonly lost: LostKey[] = [];
  private at = 0;
  /** Keys and indexes from the root to the current value. */
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
      if (this.path.length === MAX_DEPTH) throw this.fault(`nested deeper than ${MAX_DEPTH} levels`);
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

  /** Reads the items between a pair of brackets. The position must be at the opening bracket. */
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
      if (mark[0] !== '"') throw this.fault(`a string must not contain ${this.found()}`);
      this.at += 1;
      return JSON.parse(this.text.slice(begin, this.at));
    }
    throw this.fault('unterminated string');
  }

  private lose(reason: LostKey['reason'], begin: number): void {
    if (this.lost.length === MAX_LOST_KEYS)
      throw this.fault(`more than ${MAX_LOST_KEYS} keys are repeated or not allowed`);
    this.lost.push({ path: [...this.path], reason, ...this.placeOf(begin) });
  }

  private take(character: string): boolean {
    if (this.peek() !== character) return false;
    this.at += 1;
    return true;
  }

  /** Skips white space and comments. Returns the next character, or undefined at the end. */
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

  /**
   * Returns the line and column of a position. Counts lines from the previous position, so positions must not decrease.
   */
  private placeOf(at: number): JsonPlace {
    for (const { index, 0: end } of this.text.slice(this.counted, at).matchAll(/\r\n?|\n/g)) {
      this.line += 1;
      this.lineStart = this.counted + index + end.length;
    }
    this.counted = at;
    return { line: this.line, column: at - this.lineStart + 1 };
  }
}
