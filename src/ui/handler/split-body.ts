/** JSON text, and its size in bytes. */
export interface SizedText {
  readonly text: string;
  readonly size: number;
}

/**
 * Splits the JSON text of an object while it arrives, into the items of its array `messages` and the rest. In the rest,
 * `0` replaces each item. The text is valid JSON if each item and the rest are valid JSON. Throws a TypeError for
 * invalid UTF-8.
 *
 * See docs/decisions/0220-a-body-is-split-before-it-is-parsed.md.
 */
export class BodySplitter {
  private readonly decoder = new TextDecoder('utf-8', { fatal: true });
  private depth = 0;
  private inString = false;
  private escaped = false;
  /** True while the position is inside the array `messages`. */
  private inList = false;
  private item = '';
  private itemBytes = 0;
  private rest = '';
  /** The size of the text outside `messages`, in bytes. */
  restBytes = 0;
  /**
   * The last characters of `rest`. Stored separately, because reading the end of a concatenated string takes as long as
   * reading all of it.
   */
  private tail = '';

  /** `list` is called when the array `messages` starts, and `item` with each of its items. */
  constructor(private readonly on: { list(): void; item(item: SizedText): void }) {}

  write(chunk: Uint8Array): void {
    const text = this.decoder.decode(chunk, { stream: true });
    let from = 0;
    for (let at = 0; at < text.length; at += 1) {
      const char = text.charAt(at);
      if (this.inList) this.itemBytes += bytesOf(char);
      else this.restBytes += bytesOf(char);
      if (this.isInString(char)) continue;
      const opens = char === '[' || char === '{';
      if (opens) this.depth += 1;
      else if (char === ']' || char === '}') this.depth -= 1;
      if (this.inList && (this.depth === 1 || (this.depth === 2 && char === ','))) {
        this.add(text.slice(from, at));
        this.endItem();
        this.inList = char === ',';
        this.rest += char;
        from = at + 1;
      } else if (!this.inList && opens && this.depth === 2) {
        this.add(text.slice(from, at + 1));
        from = at + 1;
        this.inList = /"messages"\s*:\s*\[$/.test(this.tail);
        if (this.inList) this.on.list();
      }
    }
    this.add(text.slice(from));
  }

  /** Returns the text outside `messages`. Throws a TypeError if the text ends inside a character. */
  end(): string {
    this.decoder.decode();
    return this.rest;
  }

  private isInString(char: string): boolean {
    const wasInString = this.inString;
    if (this.escaped) this.escaped = false;
    else if (wasInString && char === '\\') this.escaped = true;
    else if (char === '"') this.inString = !wasInString;
    return wasInString || this.inString;
  }

  private add(text: string): void {
    if (this.inList) {
      this.item += text;
    } else {
      this.rest += text;
      this.tail = (this.tail + text).slice(-TAIL);
    }
  }

  /** Ends an item of `messages`. An empty item adds nothing to the rest, so that the rest is invalid JSON. */
  private endItem(): void {
    const { item: text, itemBytes: size } = this;
    this.item = '';
    this.itemBytes = 0;
    if (text.trim() === '') return;
    this.rest += '0';
    this.on.item({ text, size });
  }
}

/** Enough characters for `"messages" : [`. An array after more spaces is not split, and stays in the rest. */
const TAIL = 100;

/**
 * Returns the size of a UTF-16 code unit in UTF-8. A character outside the basic plane has two code units and four
 * bytes.
 */
function bytesOf(unit: string): number {
  if (unit < '\x80') return 1;
  return unit < '\u0800' || (unit >= '\ud800' && unit <= '\udfff') ? 2 : 3;
}
