import type { JsonObject } from '../../internal/json.js';

/** A string, a number or word, or a mark of JSON, after white space. */
const TOKEN = /[ \t\r\n]*(?:"[^"\\\n]*(?:\\[^\n][^"\\\n]*)*"|-?\d[\d.eE+-]*|true|false|null|([{}[\],:]))/y;
/** The end of a document that was cut: nothing, a part of a word, or a part of a string. */
const CUT = /^\s*(?:[\w.+-]{1,24}|("[^"\\\n]*(?:\\(?:[^u\n]|u[\dA-Fa-f]{4})[^"\\\n]*)*)(?:\\(?:u[\dA-Fa-f]{0,3})?)?)?$/;
const CLOSERS: Readonly<Record<string, string>> = { '{': '}', '[': ']' };
/** Limit for the tokens that all attempts read together, so that no output holds the thread. */
const MOST_TOKENS = 200_000;

/** The tokens that may still be read. If none is left, the text was not read to its end. */
export interface TokenBudget {
  tokens: number;
}

export function createBudget(): TokenBudget {
  return { tokens: MOST_TOKENS };
}

/**
 * Returns the JSON objects in an output that also contains other text, in order. An object that was cut at the end of
 * the output is closed. `parse` returns undefined for invalid JSON.
 */
export function findObjects(
  text: string,
  parse: (json: string) => JsonObject | undefined,
  budget: TokenBudget = createBudget(),
): readonly JsonObject[] {
  const found: JsonObject[] = [];
  for (let at = text.indexOf('{'); at >= 0; ) {
    const { whole, closed = [], end } = readObject(text, at, budget);
    const object = whole === undefined ? undefined : parse(whole);
    // The first way to close an object keeps the most of it.
    const read = object ?? closed.map(parse).find((each) => each !== undefined);
    if (read !== undefined) found.push(read);
    if (budget.tokens <= 0) break;
    at = text.indexOf('{', object === undefined ? at + 1 : end);
  }
  return found;
}

interface FoundObject {
  /** Undefined if the object does not end. */
  readonly whole?: string;
  /** JSON of the object up to the cut, and up to its last complete member. */
  readonly closed?: readonly string[];
  readonly end: number;
}

function readObject(text: string, begin: number, budget: TokenBudget): FoundObject {
  const open: string[] = [];
  let end = begin;
  let members = '';
  let previous = ':';
  TOKEN.lastIndex = begin;
  for (let token = TOKEN.exec(text); token !== null && budget.tokens-- > 0; token = TOKEN.exec(text)) {
    const mark = token[1] ?? '';
    const closer = CLOSERS[mark];
    if (!mayFollow(previous, mark)) return { end };
    previous = mark;
    if (mark === ',') members = text.slice(begin, end) + closing(open);
    if (closer !== undefined) open.push(closer);
    else if ((mark === '}' || mark === ']') && open.pop() !== mark) return { end };
    end = TOKEN.lastIndex;
    if (open.length === 0) return { whole: text.slice(begin, end), end };
  }
  const cut = budget.tokens > 0 ? CUT.exec(text.slice(end)) : null;
  if (cut === null) return budget.tokens > 0 || members === '' ? { end } : { closed: [members], end };
  const [, string] = cut;
  const closed = text.slice(begin, end) + (string === undefined ? '' : `${string}"`) + closing(open);
  return { closed: members === '' ? [closed] : [closed, members], end: text.length };
}

/** Returns false for marks that never follow each other in JSON. A string, a number or a word is the empty mark. */
function mayFollow(previous: string, mark: string): boolean {
  if (previous === '{') return mark === '' || mark === '}';
  const isSecond = previous === '' || previous === '}' || previous === ']';
  return !(isSecond && (mark === '' || mark === '{' || mark === '['));
}

function closing(open: readonly string[]): string {
  return [...open].reverse().join('');
}
