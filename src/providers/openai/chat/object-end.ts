const QUOTE = 34;
const BACKSLASH = 92;
const OPENING_BRACE = 123;
const CLOSING_BRACE = 125;

/**
 * Finds the end of a JSON object whose text arrives in several strings. Scans each character once, and only when
 * `isReached` is called.
 */
export class ObjectEnd {
  private unscanned: string[] = [];
  private state: 'before' | 'inside' | 'closed' | 'invalid' = 'before';
  private depth = 0;
  private isInString = false;
  private isEscaped = false;

  add(piece: string): void {
    this.unscanned.push(piece);
  }

  /** True if the strings so far form exactly one object with balanced braces. The object may still be invalid JSON. */
  isReached(): boolean {
    for (const piece of this.unscanned) this.scan(piece);
    this.unscanned = [];
    return this.state === 'closed';
  }

  private scan(piece: string): void {
    for (let at = 0; at < piece.length && this.state !== 'invalid'; at += 1) {
      const code = piece.charCodeAt(at);
      if (this.state === 'inside') this.scanInside(code);
      else if (code > 32) this.state = this.state === 'before' && code === OPENING_BRACE ? 'inside' : 'invalid';
    }
  }

  private scanInside(code: number): void {
    if (this.isInString) {
      if (this.isEscaped) this.isEscaped = false;
      else if (code === BACKSLASH) this.isEscaped = true;
      else if (code === QUOTE) this.isInString = false;
    } else if (code === QUOTE) this.isInString = true;
    else if (code === OPENING_BRACE) this.depth += 1;
    else if (code === CLOSING_BRACE && this.depth > 0) this.depth -= 1;
    else if (code === CLOSING_BRACE) this.state = 'closed';
  }
}
