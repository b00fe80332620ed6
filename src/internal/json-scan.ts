import { safeText } from './safe-text.js';

/** A key that is not in the value as it was written. */
export interface LostKey {
  /** From the top of the document. */
  readonly path: readonly PropertyKey[];
  readonly reason: 'repeated' | 'dropped';
  /** Counted from 1, as `column` is. */
  readonly line: number;
  readonly column: number;
}

/** Why a text is refused, and where. */
export interface JsonFault {
  /** A whole sentence, which says the place too. */
  readonly problem: string;
  /** Counted from 1, as `column` is. */
  readonly line: number;
  readonly column: number;
}

/** How deep brackets may nest. */
export const MAX_JSON_DEPTH = 64;
const MAX_LOST_KEYS = 1_000;

type Expected = 'value' | 'first item' | 'first key' | 'key' | 'colon' | 'comma' | 'end';

interface OpenBracket {
  /** The keys so far; undefined in an array. */
  readonly keys: Set<string> | undefined;
  /** The key or index that the scan is at. */
  step: PropertyKey;
}

const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
/** An escape, the end of a string, or a character that a string must not hold. */
const STRING_MARK = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})|["\\]|(?![\u007f-\u009f])\p{Cc}/gu;

/** Reads the tokens of a JSON text in order, and stops at the first that may not be there. */
export class JsonScanner {
  readonly lost: LostKey[] = [];
  private fault: JsonFault | undefined;
  private at = 0;
  private line = 1;
  private lineStart = 0;
  private readonly open: OpenBracket[] = [];

  /** `dropped` are keys that no object may have. */
  constructor(
    private readonly text: string,
    private readonly dropped: ReadonlySet<string>,
  ) {}

  /** Returns the fault; undefined if `JSON.parse` takes the text. */
  scan(): JsonFault | undefined {
    for (let expected: Expected = 'value'; this.fault === undefined; ) {
      this.skipSpace();
      if (this.at === this.text.length && expected === 'end') return undefined;
      expected = this.next(expected);
    }
    return this.fault;
  }

  private next(expected: Expected): Expected {
    const character = this.text[this.at];
    const closing = this.open.at(-1)?.keys === undefined ? ']' : '}';
    const mayClose = expected === 'comma' || expected.startsWith('first');
    if (mayClose && character === closing) {
      this.open.pop();
      return this.take(this.afterValue());
    }
    if (expected === 'comma' && character === ',') return this.take(this.afterComma());
    if (expected === 'colon' && character === ':') return this.take('value');
    if (expected.endsWith('key') && character === '"') return this.key();
    if (expected === 'value' || expected === 'first item') {
      if (character === '{' || character === '[') return this.bracket(character);
      if (character === '"') return this.skipString();
      SCALAR.lastIndex = this.at;
      if (SCALAR.test(this.text)) return this.take(this.afterValue(), SCALAR.lastIndex);
    }
    const wanted = mayClose ? `${WORDS[expected]} or \`${closing}\`` : WORDS[expected];
    return this.fail(`expected ${wanted}, got ${this.found()}`);
  }

  private bracket(character: '{' | '['): Expected {
    if (this.open.length === MAX_JSON_DEPTH) return this.fail(`it nests deeper than ${MAX_JSON_DEPTH} levels`);
    this.open.push(character === '{' ? { keys: new Set(), step: '' } : { keys: undefined, step: 0 });
    return this.take(character === '{' ? 'first key' : 'first item');
  }

  private key(): Expected {
    const { at: begin, line, lineStart } = this;
    this.skipString();
    if (this.fault !== undefined) return 'end';
    const name: string = JSON.parse(this.text.slice(begin, this.at));
    const bracket = this.open.at(-1) as OpenBracket;
    bracket.step = name;
    const isDropped = this.dropped.has(name);
    if (isDropped || bracket.keys?.has(name)) {
      if (this.lost.length === MAX_LOST_KEYS) return this.fail(`more than ${MAX_LOST_KEYS} keys are there twice`);
      const path = this.open.map(({ step }) => step);
      this.lost.push({ path, reason: isDropped ? 'dropped' : 'repeated', line, column: begin - lineStart + 1 });
    }
    bracket.keys?.add(name);
    return 'colon';
  }

  private afterComma(): Expected {
    const bracket = this.open.at(-1) as OpenBracket;
    if (bracket.keys !== undefined) return 'key';
    bracket.step = Number(bracket.step) + 1;
    return 'value';
  }

  private afterValue(): Expected {
    return this.open.length === 0 ? 'end' : 'comma';
  }

  private take(next: Expected, end = this.at + 1): Expected {
    this.at = end;
    return next;
  }

  private skipString(): Expected {
    STRING_MARK.lastIndex = this.at + 1;
    for (let mark = STRING_MARK.exec(this.text); mark !== null; mark = STRING_MARK.exec(this.text)) {
      if (mark[0] === '"') return this.take(this.afterValue(), STRING_MARK.lastIndex);
      if (mark[0].length > 1) continue;
      this.at = mark.index;
      return this.fail(mark[0] === '\\' ? 'invalid escape' : `a string must not hold ${this.found()}`);
    }
    return this.fail('this string has no end');
  }

  /** Lines end only here: a string must escape what ends one. */
  private skipSpace(): void {
    for (; ; this.at += 1) {
      const character = this.text[this.at];
      if (character === '\n' || (character === '\r' && this.text[this.at + 1] !== '\n')) {
        this.line += 1;
        this.lineStart = this.at + 1;
      } else if (character !== ' ' && character !== '\t' && character !== '\r') return;
    }
  }

  private found(): string {
    const point = this.text.codePointAt(this.at);
    return point === undefined ? 'the end' : `"${safeText(String.fromCodePoint(point), { escape: true })}"`;
  }

  private fail(what: string): Expected {
    const { line } = this;
    const column = this.at - this.lineStart + 1;
    this.fault = { problem: `invalid JSON at line ${line}, column ${column}: ${what}`, line, column };
    return 'end';
  }
}

const WORDS: Readonly<Record<Expected, string>> = {
  value: 'a value',
  'first item': 'a value',
  'first key': 'a key in double quotes',
  key: 'a key in double quotes',
  colon: '`:`',
  comma: '`,`',
  end: 'nothing more',
};
