const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Finds one secret in all forms that reveal it. */
export class Secret {
  /** Fixed strings, longest first, because one may contain another. */
  private readonly forms: readonly string[];
  private readonly encoded: PercentEncoded;

  constructor(readonly text: string) {
    this.forms = [...new Set(formsOf(text))].sort((a, b) => b.length - a.length);
    this.encoded = new PercentEncoded(text);
  }

  replaceIn(text: string, replacement: string): string {
    const decoded = text.includes('%') ? this.encoded.replaceIn(text, replacement) : text;
    return this.forms.reduce((shown, form) => shown.replaceAll(form, replacement), decoded);
  }
}

/** The secret itself, in lower case as in the host of a URL, and in JSON, forms, HTML, Base64 and Base64URL. */
function formsOf(secret: string): readonly string[] {
  const form = new URLSearchParams({ secret }).toString().slice('secret='.length);
  const html = secret.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char);
  const bytes = Buffer.from(secret);
  // Without padding, the form matches Base64 with and without padding.
  const base64 = bytes.toString('base64').replace(/=+$/, '');
  return [secret, secret.toLowerCase(), ...jsonForms(secret), form, html, base64, bytes.toString('base64url')];
}

/** Some programs also escape slashes or all non-ASCII characters. */
function jsonForms(secret: string): readonly string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const ascii = json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const capitals = ascii.replace(/\\u..../g, (code) => `\\u${code.slice(2).toUpperCase()}`);
  return [json, ascii, capitals].flatMap((text) => [text, text.replaceAll('/', '\\/')]);
}

/** V8 refuses a regular expression of many thousand characters. */
const PART_LENGTH = 200;

/** Finds a string of which each character is percent-encoded or not. */
class PercentEncoded {
  private readonly head: RegExp;
  private readonly rest: readonly RegExp[];

  constructor(text: string) {
    const patterns = [...text].map(encodedPattern);
    const partAt = (start: number) => patterns.slice(start, start + PART_LENGTH).join('');
    this.head = new RegExp(partAt(0), 'g');
    const starts = Array.from({ length: Math.ceil(patterns.length / PART_LENGTH) }, (_, at) => at * PART_LENGTH);
    this.rest = starts.slice(1).map((start) => new RegExp(partAt(start), 'y'));
  }

  replaceIn(text: string, replacement: string): string {
    let shown = '';
    let from = 0;
    this.head.lastIndex = 0;
    for (let match = this.head.exec(text); match !== null; match = this.head.exec(text)) {
      const end = this.endOf(text, this.head.lastIndex);
      if (end !== undefined) {
        shown += text.slice(from, match.index) + replacement;
        from = end;
      }
      this.head.lastIndex = end ?? match.index + 1;
    }
    return shown + text.slice(from);
  }

  /** Returns the end of the match whose first part ends at `start`. */
  private endOf(text: string, start: number): number | undefined {
    let end = start;
    for (const part of this.rest) {
      part.lastIndex = end;
      if (!part.test(text)) return undefined;
      end = part.lastIndex;
    }
    return end;
  }
}

/** Matches one character as it is, or its bytes as `%2b` or `%2B`. */
function encodedPattern(char: string): string {
  const bytes = [...Buffer.from(char)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  const encoded = bytes.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
  const literal = char.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&');
  return char === ' ' ? `(?:${encoded}|[ +])` : `(?:${encoded}|${literal})`;
}
