/** A word of a command line, without its quotes. */
export interface ShellWord {
  readonly text: string;
  /**
   * Position of the first character that a shell may replace, such as the `$` of a variable. Undefined without such a
   * character.
   */
  readonly unknownFrom: number | undefined;
  /** True for a redirection with its target, such as `2> log`. */
  readonly isRedirection: boolean;
}

/**
 * The tokens of a shell. The first one that matches is taken, so the redirection `&>` comes before the operator `&`.
 */
const TOKEN = new RegExp(
  [
    /(?<joined>\\\r?\n)/,
    /(?<substitution>`|\$\(|[<>]\()/,
    /\\(?<escaped>[\s\S])/,
    /'(?<single>[^']*)'/,
    /(?<ansi>\$'(?:\\[\s\S]|[^'\\])*')/,
    /\$?"(?<double>(?:\\[\s\S]|[^"\\])*)"/,
    /(?<redirection>&>>?|<<<|<<-?|<>|[<>]&|>>|>\||[<>])/,
    /(?<line>\n)/,
    /(?<operator>[;&|()]+)/,
    /(?<blank>[^\S\n]+)/,
    /(?<plain>[^\s\\'"`$<>;&|()*?[{#]+)/,
    /(?<other>[$*?[{#])/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'y',
);

/**
 * Reads a command line as a shell does, and returns the words of each command. Returns undefined if the line contains a
 * substitution, or a quote or here-document without an end, so that it may run any command.
 */
export function shellCommands(line: string): readonly (readonly ShellWord[])[] | undefined {
  const reader = new Reader();
  let at = 0;
  while (at < line.length) {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(line);
    if (found?.groups === undefined || !reader.take(found.groups)) return undefined;
    const next = reader.skip(line, TOKEN.lastIndex, found.groups);
    if (next === undefined) return undefined;
    at = next;
  }
  return reader.end();
}

interface HereDocument {
  readonly operator: '<<' | '<<-';
  /** The line that ends the document. */
  readonly end: string;
}

type Token = Readonly<Record<string, string | undefined>>;

class Reader {
  private readonly commands: ShellWord[][] = [];
  private words: ShellWord[] = [];
  private text: string | undefined = undefined;
  private unknownFrom: number | undefined = undefined;
  private isQuoted = false;
  /** Length of the operator of a redirection, up to which no target was read. */
  private operator: number | undefined = undefined;
  private document: HereDocument['operator'] | undefined = undefined;
  private documents: HereDocument[] = [];

  /** Adds a token. Returns false for a substitution. */
  take(token: Token): boolean {
    const { substitution, escaped, single, ansi, double, redirection, blank, plain, other } = token;
    if (substitution !== undefined) return false;
    if (escaped !== undefined || single !== undefined) this.quote(escaped ?? single ?? '');
    else if (ansi !== undefined) this.add(ansi, 0);
    else if (double !== undefined) return this.quoteDouble(double);
    else if (redirection !== undefined) this.redirect(redirection);
    else if (token.line !== undefined || token.operator !== undefined) this.endCommand();
    else if (blank !== undefined) this.endWord();
    else if (other === '#') this.add(other);
    else if (other !== undefined) this.add(other, 0);
    else if (plain !== undefined) this.add(plain);
    return true;
  }

  /**
   * Returns the position after a comment or the here-documents of a line. Returns undefined if the documents may run
   * commands.
   */
  skip(line: string, at: number, token: Token): number | undefined {
    if (token.other === '#' && this.text === '#' && !this.isQuoted) {
      this.text = undefined;
      return endOfLine(line, at);
    }
    if (token.line === undefined) return at;
    let next: number | undefined = at;
    for (const document of this.documents) next = next === undefined ? next : endOfDocument(line, next, document);
    this.documents = [];
    return next;
  }

  end(): readonly (readonly ShellWord[])[] {
    this.endCommand();
    return this.commands;
  }

  private add(text: string, unknownFrom?: number): void {
    const before = this.text ?? '';
    if (unknownFrom !== undefined) this.unknownFrom ??= before.length + unknownFrom;
    this.text = before + text;
  }

  private quote(text: string): void {
    this.add(text);
    this.isQuoted = true;
  }

  /** Returns false if the string contains a substitution. */
  private quoteDouble(string: string): boolean {
    const bare = string.replace(/\\[\s\S]/g, '__');
    if (/`|\$\(/.test(bare)) return false;
    const first = bare.indexOf('$');
    // Escapes make the text shorter than the string, so the part before the variable is read on its own.
    this.quote(unescaped(first < 0 ? string : string.slice(0, first)));
    if (first >= 0) this.add(unescaped(string.slice(first)), 0);
    return true;
  }

  private redirect(operator: string): void {
    // A number or `{name}` directly before the operator is part of the redirection.
    const descriptor = !this.isQuoted && /^(?:\d+|\{\w+\})$/.test(this.text ?? '') ? this.text : undefined;
    if (descriptor === undefined) this.endWord();
    this.text = (descriptor ?? '') + operator;
    this.unknownFrom = undefined;
    this.operator = this.text.length;
    this.document = operator === '<<' || operator === '<<-' ? operator : undefined;
  }

  private endWord(): void {
    const { text, operator } = this;
    if (text === undefined) return;
    if (operator === text.trimEnd().length && !this.isQuoted) {
      // The target of a redirection may follow after a blank.
      this.text = `${text.trimEnd()} `;
      return;
    }
    if (this.document !== undefined) {
      this.documents.push({ operator: this.document, end: text.slice(operator).replace(/^ /, '') });
    }
    const isGroup = text === '{' && !this.isQuoted;
    const unknownFrom = /^\[\[?$/.test(text) ? undefined : this.unknownFrom;
    if (!isGroup) this.words.push({ text, unknownFrom, isRedirection: operator !== undefined });
    this.clear();
    if (isGroup) this.endCommand();
  }

  private endCommand(): void {
    this.endWord();
    this.clear();
    if (this.words.length > 0) this.commands.push(this.words);
    this.words = [];
  }

  private clear(): void {
    this.text = undefined;
    this.unknownFrom = undefined;
    this.operator = undefined;
    this.isQuoted = false;
    this.document = undefined;
  }
}

function unescaped(text: string): string {
  return text.replace(/\\(?:\r?\n|([$`"\\]))/g, '$1');
}

function endOfLine(line: string, at: number): number {
  const end = line.indexOf('\n', at);
  return end < 0 ? line.length : end;
}

/**
 * Returns the position after the line that ends a here-document. Returns undefined without such a line, and for a
 * document with a substitution or a joined line.
 */
function endOfDocument(line: string, at: number, { operator, end }: HereDocument): number | undefined {
  for (let next = at; next < line.length; ) {
    const stop = endOfLine(line, next);
    const text = line.slice(next, stop);
    if ((operator === '<<-' ? text.replace(/^\t+/, '') : text) === end) return Math.min(stop + 1, line.length);
    if (/`|\$\(|\\\r?$/.test(text)) return undefined;
    next = stop + 1;
  }
  return undefined;
}
