import { CharPatterns, ENCODED_LETTERS, ESCAPE_MARKS, LINE_BREAK, type Span } from './char-patterns.js';

/** Shorter values would match almost everywhere. */
const MIN_LENGTH = 4;
/** Shorter lines of a value are often punctuation or common words. */
const MIN_LINE_LENGTH = 8;
/** Shorter parts of Base64 are common in other Base64. */
const MIN_BASE64_LENGTH = 8;

/** Programs wrap Base64 in lines of 64 or 76 characters. */
const MIN_WRAP = 40;

/** A string to search in, with data that all secrets share. */
export interface SearchedText {
  readonly text: string;
  readonly hasEscapes: boolean;
  readonly hasEncodedLetters: boolean;
  /** The string without line breaks, if it has Base64 over several lines. */
  readonly joined: string | undefined;
}

/** Finds one secret in all forms that reveal it. */
export class Secret {
  private readonly plain: readonly Form[];
  private readonly encoded: readonly Form[];
  private readonly shortest: number;

  constructor(readonly text: string) {
    const lower = text.toLowerCase();
    this.plain = [new Form(text), ...(lower === text ? [] : [new Form(lower)])];
    this.encoded = base64Forms(text);
    this.shortest = Math.min(...[...this.plain, ...this.encoded].map((form) => form.text.length));
  }

  /** Returns the parts of a string that reveal the secret. */
  spansIn(searched: SearchedText): readonly Span[] {
    if (searched.text.length < this.shortest) return [];
    const wrapped = this.encoded.flatMap((form) => form.findWrapped(searched));
    return [...this.plain, ...this.encoded].flatMap((form) => form.find(searched)).concat(wrapped);
  }
}

/**
 * Returns the secrets that a value reveals: the value without outer white space, and each line of it, because programs
 * log line by line, with other line ends or indented.
 */
export function secretsOf(value: string): readonly string[] {
  const lines = value.split(/[\r\n]+/).map((line) => line.trim());
  const long = lines.length > 1 ? lines.filter((line) => line.length >= MIN_LINE_LENGTH) : [];
  return [value.trim(), ...long].filter((text) => text.length >= MIN_LENGTH);
}

export function searchedText(text: string): SearchedText {
  const hasEscapes = ESCAPE_MARKS.test(text);
  const hasEncodedLetters = hasEscapes && ENCODED_LETTERS.test(text);
  const isWrapped = ['\n', '\\n'].some((end) => hasLongLine(text, end));
  return { text, hasEscapes, hasEncodedLetters, joined: isWrapped ? text.replace(LINE_BREAK, '') : undefined };
}

/** Returns true if a line ends with characters of Base64. */
function hasLongLine(text: string, end: string): boolean {
  let from = 0;
  for (let at = text.indexOf(end); at >= 0; at = text.indexOf(end, at + 1)) {
    if (at - from >= MIN_WRAP && /^[\w+/-]+(?:\r|\\r)?$/.test(text.slice(at - MIN_WRAP, at))) return true;
    from = at + 1;
  }
  return false;
}

/** A form in Base64, which does not split at bytes. */
interface Base64Edges {
  /** True if the character before or after the form holds a part of the secret too. */
  readonly before: boolean;
  readonly after: boolean;
}

/** One form of a secret, found as it is and with escapes. */
class Form {
  /** Letters and digits that most escapes keep. Searching for them first saves a slow search. */
  private readonly kept: string;
  private escaped: CharPatterns | undefined = undefined;
  private wrapped: CharPatterns | undefined = undefined;

  constructor(
    readonly text: string,
    private readonly base64?: Base64Edges,
  ) {
    const words = text.split(/[^A-Za-z\d]+/);
    this.kept = words.reduce((longest, word) => (word.length > longest.length ? word : longest), '');
  }

  find(searched: SearchedText): readonly Span[] {
    return this.withEdges(searched.text, [...findAll(searched.text, this.text), ...this.findEscaped(searched)]);
  }

  /** Finds the form with line breaks in it. */
  findWrapped({ text, joined }: SearchedText): readonly Span[] {
    if (joined === undefined || !joined.includes(this.text)) return [];
    this.wrapped ??= CharPatterns.wrapped(this.text);
    return this.withEdges(text, this.wrapped.find(text));
  }

  private withEdges(text: string, found: readonly Span[]): readonly Span[] {
    const { before = false, after = false } = this.base64 ?? {};
    return found.map(({ start, end }) => ({
      start: before && isBase64(text[start - 1]) ? start - 1 : start,
      end: after && isBase64(text[end]) ? end + 1 : end,
    }));
  }

  private findEscaped({ text, hasEscapes, hasEncodedLetters }: SearchedText): readonly Span[] {
    const { kept } = this;
    const mayHaveLetters = hasEncodedLetters && this.base64 === undefined;
    if (!hasEscapes || !(mayHaveLetters || (kept !== this.text && text.includes(kept)))) return [];
    this.escaped ??= CharPatterns.escaped(this.text);
    return this.escaped.find(text);
  }
}

/**
 * The secret in Base64 and Base64URL: as a part of a longer string, and alone if it is short. In a longer string, the
 * characters depend on the number of bytes before the secret, of which three are one group.
 */
function base64Forms(secret: string): readonly Form[] {
  const bytes = Buffer.from(secret);
  const parts = [0, 1, 2].flatMap((offset) => {
    const bits = 8 * (offset + bytes.length);
    const encoded = base64(Buffer.concat([Buffer.alloc(offset), bytes]));
    const text = encoded.slice(Math.ceil((8 * offset) / 6), Math.floor(bits / 6));
    return text.length < MIN_BASE64_LENGTH ? [] : [{ text, edges: { before: offset > 0, after: bits % 6 > 0 } }];
  });
  const alone = [secret, `${secret}\n`].map((text) => ({ text: base64(Buffer.from(text)), edges: NO_EDGES }));
  const forms = parts.length === 3 ? parts : [...alone, ...parts];
  const urls = forms.map(({ text, edges }) => ({ text: text.replaceAll('+', '-').replaceAll('/', '_'), edges }));
  return [...forms, ...urls.filter((url, at) => url.text !== forms[at]?.text)].map(
    ({ text, edges }) => new Form(text, edges),
  );
}

const NO_EDGES: Base64Edges = { before: false, after: false };

/** Without padding, the string is found with and without padding. */
function base64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

function isBase64(char: string | undefined): boolean {
  return char !== undefined && /[\w+/-]/.test(char);
}

function findAll(text: string, wanted: string): readonly Span[] {
  const spans: Span[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
    spans.push({ start: at, end: at + wanted.length });
  }
  return spans;
}
