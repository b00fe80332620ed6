/** A part of a string, from `start` up to `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const NAMED: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '\n': '\\\\n',
  '\r': '\\\\r',
  '\t': '\\\\t',
  '\b': '\\\\b',
  '\f': '\\\\f',
};
/** Long regular expressions are slow to compile, and most strings need only the first one. */
const PATTERN_LENGTH = 64;

/** A line break in Base64, which may stand in a string of JSON. */
export const LINE_BREAK = /(?:\r?\n|(?:\\r)?\\n)[ \t]*/g;
/** The characters that begin an escape. A string without them needs no search for escapes. */
export const ESCAPE_MARKS = /[%&\\+]/;
/** Letters and digits in percent-encoding. Other encodings keep them as they are. */
export const ENCODED_LETTERS = /%(?:3\d|4[1-9a-f]|5[\da]|6[1-9a-f]|7[\da])/i;

/** Finds a string by a pattern for each of its characters. */
export class CharPatterns {
  private readonly head: RegExp;
  private readonly tail: readonly RegExp[];

  private constructor(patterns: readonly string[]) {
    const count = Math.ceil(patterns.length / PATTERN_LENGTH);
    const [head = '', ...tail] = Array.from({ length: count }, (_, at) =>
      patterns.slice(at * PATTERN_LENGTH, (at + 1) * PATTERN_LENGTH).join(''),
    );
    this.head = new RegExp(head, 'g');
    this.tail = tail.map((part) => new RegExp(part, 'y'));
  }

  /**
   * Each character stands as it is or as an escape of a URL, of HTML, of JSON or of a string in a programming language.
   * Each language escapes other characters, so a list of whole strings would never be complete.
   */
  static escaped(text: string): CharPatterns {
    return new CharPatterns([...text].map(escapedPattern));
  }

  /** Base64 with line breaks at any place. */
  static wrapped(base64: string): CharPatterns {
    return new CharPatterns([...base64].map((char) => `${literalPattern(char)}(?:${LINE_BREAK.source})?`));
  }

  find(text: string): readonly Span[] {
    const spans: Span[] = [];
    this.head.lastIndex = 0;
    for (let match = this.head.exec(text); match !== null; match = this.head.exec(text)) {
      const end = this.endOf(text, this.head.lastIndex);
      if (end !== undefined) spans.push({ start: match.index, end });
      this.head.lastIndex = end ?? match.index + 1;
    }
    return spans;
  }

  private endOf(text: string, start: number): number | undefined {
    let end = start;
    for (const part of this.tail) {
      part.lastIndex = end;
      if (!part.test(text)) return undefined;
      end = part.lastIndex;
    }
    return end;
  }
}

/** Matches one character as it is or escaped. ASCII letters and digits are escaped in URLs only. */
function escapedPattern(char: string): string {
  const percent = [...Buffer.from(char)].map((byte) => `%${hex(byte, 2)}`).join('');
  if (/[A-Za-z\d]/.test(char)) return `(?:${char}|${percent})`;
  const code = char.codePointAt(0) ?? 0;
  const units = Array.from({ length: char.length }, (_, at) => `\\\\u${hex(char.charCodeAt(at), 4)}`).join('');
  const numbers = [`&#0*${code};`, `&#[xX]0*${hex(code, 1)};`, ...(code < 0x100 ? [`\\\\x${hex(code, 2)}`] : [])];
  const named = [NAMED[char] ?? [], char === ' ' ? '\\+' : []].flat();
  // Last, because a part of the patterns must not end after the first character of an escape.
  return `(?:${[percent, units, ...numbers, ...named, `\\\\?${literalPattern(char)}`].join('|')})`;
}

function literalPattern(char: string): string {
  return char.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&');
}

/** Matches a number in hexadecimal digits of either case. */
function hex(code: number, digits: number): string {
  const text = code.toString(16).padStart(digits, '0');
  return text.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}
