const LITERALS = [
  { start: '<!--', end: '-->' },
  { start: '<![CDATA[', end: ']]>' },
] as const;

/** Text in which tags do not count: a comment, code, or a single character that begins neither. */
export interface Literal {
  readonly end: number;
  readonly isCode: boolean;
}

/** Finds the ends of comments and code. Takes linear time in all if the indexes of the calls ascend. */
export class Literals {
  private readonly spanEnd: (index: number) => number;
  private readonly lateEnd: (index: number) => number | undefined;
  /** The last result of each search. It also answers a later search that starts before the place found. */
  private readonly found = new Map<string, { readonly from: number; readonly index: number; readonly end: number }>();

  constructor(private readonly text: string) {
    this.spanEnd = codeSpans(text);
    this.lateEnd = lateBlocks(text);
  }

  /** Returns the comment or code at `index`. The second argument is the match of the scan at this index. */
  at(index: number, [match, fence, info = '']: readonly (string | undefined)[]): Literal {
    if (match === '`') return { end: this.lateEnd(index) ?? this.spanEnd(index), isCode: true };
    if (match !== undefined && fence !== undefined) {
      // A `<` after the fence begins a tag. A tag may follow only a closing fence, so this fence opens no block.
      const isBlock = !/^[ \t]*</.test(info) && (fence.startsWith('~') || !info.includes('`'));
      const fenceStart = index + match.length - info.length - fence.length;
      return { end: isBlock ? this.fenceEnd(fence, index + match.length) : this.spanEnd(fenceStart), isCode: true };
    }
    return { end: this.commentEnd(index), isCode: false };
  }

  private commentEnd(index: number): number {
    const literal = LITERALS.find(({ start }) => this.text.startsWith(start, index));
    if (literal === undefined) return index + 1;
    const { start, end } = literal;
    const found = this.remember(end, index + start.length, (from) => {
      const at = this.text.indexOf(end, from);
      return at < 0 ? undefined : { index: at, end: at + end.length };
    });
    return found === undefined ? index + 1 : found.end;
  }

  /** Returns the index after the closing fence, which a tag may follow, or else the end of the text. */
  private fenceEnd(fence: string, from: number): number {
    const found = this.remember(`${fence[0]}${fence.length}`, from, (start) => {
      const closing = /^[ \t>]*(`{3,}|~{3,})[ \t]*(?=$|<)/gm;
      closing.lastIndex = start;
      for (let match = closing.exec(this.text); match !== null; match = closing.exec(this.text)) {
        const [line, run = ''] = match;
        if (run[0] === fence[0] && run.length >= fence.length) {
          return { index: match.index, end: match.index + line.length };
        }
      }
      return undefined;
    });
    return found?.end ?? this.text.length;
  }

  /** Searches from an index on, unless an earlier search has already found the result. */
  private remember(
    name: string,
    from: number,
    search: (from: number) => { readonly index: number; readonly end: number } | undefined,
  ): { readonly end: number } | undefined {
    const known = this.found.get(name);
    if (known !== undefined && known.from <= from && from <= known.index) {
      return known.index === Number.POSITIVE_INFINITY ? undefined : known;
    }
    const found = search(from);
    this.found.set(name, { from, ...(found ?? { index: Number.POSITIVE_INFINITY, end: 0 }) });
    return found;
  }
}

/**
 * Finds the end of a code block whose fence follows other text in its line, as in `<answer>```json`. The next fence
 * must close the block. Returns undefined if no such block starts at the index.
 */
function lateBlocks(text: string): (index: number) => number | undefined {
  const opening = /(`{3,})[\w.+#-]*[ \t]*$/my;
  const fences = /^([ \t>]*(`{3,})[ \t]*)(.?)/gm;
  let next: RegExpExecArray | null = null;
  let nextAt = 0;
  return (index) => {
    opening.lastIndex = index;
    const fence = opening.exec(text)?.[1];
    if (fence === undefined) return undefined;
    if (index >= nextAt) {
      fences.lastIndex = index;
      next = fences.exec(text);
      nextAt = next?.index ?? text.length;
    }
    const [, line = '', end = '', rest = ''] = next ?? [];
    return end.length >= fence.length && (rest === '' || rest === '<') ? nextAt + line.length : undefined;
  };
}

/** Finds the end of a code span: after the next run of equally many backticks in the line, else after this run. */
function codeSpans(text: string): (index: number) => number {
  let lineEnd = -1;
  let ends = new Map<number, number>();
  return (index) => {
    if (index >= lineEnd) {
      const end = text.indexOf('\n', index);
      lineEnd = end < 0 ? text.length : end;
      ends = spansIn(text.slice(index, lineEnd), index);
    }
    return ends.get(index) ?? index + 1;
  };
}

function spansIn(line: string, offset: number): Map<number, number> {
  const runs = [...line.matchAll(/`+/g)].reverse();
  const nearest = new Map<number, number>();
  const ends = new Map<number, number>();
  for (const { index, 0: run } of runs) {
    const end = offset + index + run.length;
    ends.set(offset + index, nearest.get(run.length) ?? end);
    nearest.set(run.length, end);
  }
  return ends;
}
