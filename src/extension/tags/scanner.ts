/** A tag in a string: `<name …>`, `</name>` or `<name …/>`. */
export interface TagToken {
  readonly kind: 'open' | 'close' | 'empty';
  readonly name: string;
  /** The source between the name and the end of an opening tag. */
  readonly attributes: string;
  readonly start: number;
  readonly end: number;
}

/** Maximum length of a tag. Longer markup is plain text. */
const LONGEST_TAG = 16_384;
const NAME = '[\\p{L}_][\\p{L}\\p{N}_.:-]*';
const ATTRIBUTE = '[^\\s"\'<>/=`]+(?:\\s*=\\s*(?:"[^"<]*"|\'[^\'<]*\'|[^\\s"\'=<>`]+))?';
const TAG = new RegExp(`^<(?:/(${NAME})\\s*|(${NAME})((?:\\s+${ATTRIBUTE})*)\\s*(/?))>`, 'u');
const ATTRIBUTES = /([^\s"'<>/=`]+)(?:\s*=\s*(?:"([^"<]*)"|'([^'<]*)'|([^\s"'=<>`]+)))?/g;
const LITERALS = [
  { start: '<!--', end: '-->' },
  { start: '<![CDATA[', end: ']]>' },
] as const;

/**
 * Returns the wanted tags of a string in order. Ignores tags in fenced code blocks, in backtick spans within one line,
 * in comments and in CDATA sections. A `<` without a name and a `>` is plain text. Takes linear time for any input,
 * because the scan never returns to an earlier index.
 */
export function scanTags(text: string, isWanted: (name: string) => boolean): TagToken[] {
  const tokens: TagToken[] = [];
  if (!text.includes('<')) return tokens;
  const skip = literalSkipper(text);
  // A code fence starts a line, after an indent, quote marks or a list marker.
  const next = /^(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*(`{3,}|~{3,})(.*)|[<`]/gm;
  for (let found = next.exec(text); found !== null; found = next.exec(text)) {
    const { index } = found;
    const isTag = found[0] === '<';
    const token = isTag ? tagAt(text, index) : undefined;
    if (token !== undefined && isWanted(token.name)) tokens.push(token);
    next.lastIndex = token?.end ?? skip(index, found);
  }
  return tokens;
}

/**
 * Returns the attributes of a tag, not decoded. A name without a value has `''`. The first value of a repeated name
 * counts.
 */
export function attributesOf({ attributes }: TagToken): Readonly<Record<string, string>> {
  const found: Record<string, string> = Object.create(null);
  for (const [, name = '', double, single, bare] of attributes.matchAll(ATTRIBUTES)) {
    found[name] ??= double ?? single ?? bare ?? '';
  }
  return Object.freeze(found);
}

/** Returns the tag at an index. A tag must end before the next `<`, so that no character is scanned twice. */
function tagAt(text: string, start: number): TagToken | undefined {
  const limit = text.indexOf('<', start + 1);
  const until = Math.min(limit < 0 ? text.length : limit, start + LONGEST_TAG);
  const found = TAG.exec(text.slice(start, until));
  if (found === null) return undefined;
  const [markup, closing, opening = '', attributes = '', slash] = found;
  const place = { attributes, start, end: start + markup.length };
  if (closing !== undefined) return { kind: 'close', name: closing, ...place };
  return { kind: slash === '/' ? 'empty' : 'open', name: opening, ...place };
}

/** Returns a function that skips a comment, code, or a single character at `index`, and returns the index after it. */
function literalSkipper(text: string): (index: number, found: RegExpExecArray) => number {
  const unclosed = new Set<string>();
  const spanEnd = codeSpans(text);
  const lateEnd = lateBlocks(text);
  return (index, [match, fence, info = '']) => {
    if (match === '`') return lateEnd(index) ?? spanEnd(index);
    if (fence !== undefined) {
      // A `<` after the fence is a tag after a closing fence, so this fence opens no block.
      const isBlock = !/^[ \t]*</.test(info) && (fence.startsWith('~') || !info.includes('`'));
      const fenceStart = index + match.length - info.length - fence.length;
      return isBlock ? fenceEnd(text, fence, index + match.length) : spanEnd(fenceStart);
    }
    const literal = LITERALS.find(({ start }) => text.startsWith(start, index));
    if (literal === undefined || unclosed.has(literal.end)) return index + 1;
    const end = text.indexOf(literal.end, index + literal.start.length);
    if (end < 0) unclosed.add(literal.end);
    return end < 0 ? index + 1 : end + literal.end.length;
  };
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

/**
 * Returns the index after the closing fence, or the end of the text if no fence closes. A tag may follow the fence
 * directly.
 */
function fenceEnd(text: string, fence: string, from: number): number {
  const closing = /^[ \t>]*(`{3,}|~{3,})[ \t]*(?=$|<)/gm;
  closing.lastIndex = from;
  for (let found = closing.exec(text); found !== null; found = closing.exec(text)) {
    const [match, run = ''] = found;
    if (run[0] === fence[0] && run.length >= fence.length) return found.index + match.length;
  }
  return text.length;
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
