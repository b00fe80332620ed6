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

/** Long regular expressions are slow to compile, so only the beginning of a secret is one. */
const HEAD_LENGTH = 64;

/** Finds a string of which each character is percent-encoded or not. */
class PercentEncoded {
  private readonly head: RegExp;
  private readonly tail: readonly string[];

  constructor(text: string) {
    const chars = [...text];
    this.head = new RegExp(chars.slice(0, HEAD_LENGTH).map(patternOf).join(''), 'g');
    this.tail = chars.slice(HEAD_LENGTH);
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

  /** Returns the end of the secret whose beginning ends at `start`. */
  private endOf(text: string, start: number): number | undefined {
    let end = start;
    for (const char of this.tail) {
      const encoded = text[end] === '%' ? encodedForm(char) : '';
      if (encoded !== '' && text.slice(end, end + encoded.length).toLowerCase() === encoded) end += encoded.length;
      else if (text.startsWith(char, end) || (char === ' ' && text[end] === '+')) end += char.length;
      else return undefined;
    }
    return end;
  }
}

/** Matches one character as it is, or its bytes as `%2b` or `%2B`. */
function patternOf(char: string): string {
  const encoded = encodedForm(char).replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
  const literal = char.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&');
  return char === ' ' ? `(?:${encoded}|[ +])` : `(?:${encoded}|${literal})`;
}

/** Returns the bytes of a character as `%2b`. */
function encodedForm(char: string): string {
  return [...Buffer.from(char)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}
