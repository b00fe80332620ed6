import type { JsonValue } from './json.js';
import { type JsonFault, JsonScanner, type LostKey, MAX_JSON_DEPTH } from './json-scan.js';

export type { LostKey } from './json-scan.js';

/** A value and the keys of the text that it lacks, or the fault. */
export type JsonReading = { readonly value: JsonValue; readonly lost: readonly LostKey[] } | JsonFault;

/** How a text is read. */
export interface ReadJsonOptions {
  /** Accept comments, and a comma before a closing bracket, as editors do. Default false. */
  readonly comments?: boolean | undefined;
  /** Keys that are left out of every object, beside `__proto__`. */
  readonly drop?: readonly string[] | undefined;
}

/**
 * Reads JSON that somebody else wrote, at most 64 levels deep. `__proto__` is left out, and of a key that an object has
 * twice only the last one counts: `lost` lists both. Skips a byte order mark. Never throws.
 */
export function readJson(text: string, { comments = false, drop = [] }: ReadJsonOptions = {}): JsonReading {
  const plain = withoutMark(text);
  const strict = comments ? withoutComments(plain) : plain;
  const dropped = droppedKeys(drop);
  const scanner = new JsonScanner(strict, dropped);
  const fault = scanner.scan();
  if (fault !== undefined) return fault;
  const { lost } = scanner;
  const value: JsonValue = JSON.parse(strict);
  return { value: lost.some(({ reason }) => reason === 'dropped') ? cut(value, dropped, 0) : value, lost };
}

/** The same for JSON of any depth, with null for what is deeper than 64 levels; undefined if the text is not JSON. */
export function readJsonCut(text: string, drop: readonly string[] = []): JsonValue | undefined {
  try {
    return cut(JSON.parse(withoutMark(text)), droppedKeys(drop), 0);
  } catch {
    return undefined;
  }
}

/** What happened to a key, without its name: the path says that. */
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

/** Puts blanks in the place of comments and trailing commas, so that lines and columns stay. */
function withoutComments(text: string): string {
  const pieces: string[] = [];
  let kept = 0;
  let comma = -1;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] as string;
    const end = character === '/' ? endOfComment(text, at) : at;
    if (end > at) {
      pieces.push(text.slice(kept, at), blanksFor(text.slice(at, end)));
      kept = end;
      at = end - 1;
    } else if (character === ',') {
      comma = pieces.push(text.slice(kept, at), ',') - 1;
      kept = at + 1;
    } else if (!SPACES.includes(character)) {
      if (comma >= 0 && (character === '}' || character === ']')) pieces[comma] = ' ';
      comma = -1;
      if (character === '"') at = endOfString(text, at);
    }
  }
  return pieces.join('') + text.slice(kept);
}

function blanksFor(text: string): string {
  return /[\n\r]/.test(text) ? text.replace(/[^\n\r]/g, ' ') : ' '.repeat(text.length);
}

const SPACES = ' \t\n\r';

/** A comment without an end goes on to the end of the text. What is not a comment ends where it begins. */
function endOfComment(text: string, begin: number): number {
  const kind = text[begin + 1];
  if (kind !== '/' && kind !== '*') return begin;
  const end = kind === '*' ? text.indexOf('*/', begin + 2) + 2 : text.slice(begin).search(/[\n\r]/) + begin;
  return end < begin + 2 ? text.length : end;
}

function endOfString(text: string, begin: number): number {
  let at = begin + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

function cut(value: JsonValue, dropped: ReadonlySet<string>, level: number): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (level === MAX_JSON_DEPTH) return null;
  if (Array.isArray(value)) return value.map((item) => cut(item, dropped, level + 1));
  const kept = Object.entries(value).filter(([key]) => !dropped.has(key));
  return Object.fromEntries(kept.map(([key, inner]) => [key, cut(inner, dropped, level + 1)]));
}
