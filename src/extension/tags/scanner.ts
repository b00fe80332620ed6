/** A piece of markup in a text: `<name …>`, `</name>` or `<name …/>`. */
export interface TagToken {
  readonly kind: 'open' | 'close' | 'empty';
  readonly name: string;
  /** What stands between the name and the end of an opening tag. */
  readonly attributes: string;
  readonly start: number;
  readonly end: number;
}

/** Markup longer than this is text. */
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
 * The tags in a text whose name is asked for, in order. What only looks like a tag is none: in code (fenced blocks, and
 * spans in backticks within a line), in comments and CDATA, and a `<` that no name and no `>` follow. Takes time in
 * proportion to the text, whatever stands in it: no place is looked at again once a tag, or none, was found there.
 */
export function scanTags(text: string, isWanted: (name: string) => boolean): TagToken[] {
  const tokens: TagToken[] = [];
  if (!text.includes('<')) return tokens;
  const skip = literalSkipper(text);
  // A fence stands at the beginning of a line, also of a quoted, indented or listed one.
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

/** The attributes of a tag as they stand in it: nothing is decoded, a name alone has the value `''`, the first of a name counts. */
export function attributesOf({ attributes }: TagToken): Readonly<Record<string, string>> {
  const found: Record<string, string> = Object.create(null);
  for (const [, name = '', double, single, bare] of attributes.matchAll(ATTRIBUTES)) {
    found[name] ??= double ?? single ?? bare ?? '';
  }
  return Object.freeze(found);
}

/** A tag ends before the next `<`, so that what was looked at in vain is not looked at again. */
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

/** Finds where to go on after something at `index` that is no tag: a comment, code, or a single character. */
function literalSkipper(text: string): (index: number, found: RegExpExecArray) => number {
  const unclosed = new Set<string>();
  const spanEnd = codeSpans(text);
  const lateEnd = lateBlocks(text);
  return (index, [match, fence, info = '']) => {
    if (match === '`') return lateEnd(index) ?? spanEnd(index);
    if (fence !== undefined) {
      // What begins with `<` is a tag behind the end of a block whose beginning was none.
      const isBlock = !/^[ \t]*</.test(info) && (fence.startsWith('~') || !info.includes('`'));
      const at = index + match.length - info.length - fence.length;
      return isBlock ? fenceEnd(text, fence, index + match.length) : spanEnd(at);
    }
    const literal = LITERALS.find(({ start }) => text.startsWith(start, index));
    if (literal === undefined || unclosed.has(literal.end)) return index + 1;
    const end = text.indexOf(literal.end, index + literal.start.length);
    if (end < 0) unclosed.add(literal.end);
    return end < 0 ? index + 1 : end + literal.end.length;
  };
}

/**
 * Where a block of code ends whose fence stands behind other text, as in `<answer>```json`: at the next fence, which must
 * be its end. Undefined where none begins there.
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

/** A block of code without an end goes on to the end of the text. Models put a tag right behind the end. */
function fenceEnd(text: string, fence: string, from: number): number {
  const closing = /^[ \t>]*(`{3,}|~{3,})[ \t]*(?=$|<)/gm;
  closing.lastIndex = from;
  for (let found = closing.exec(text); found !== null; found = closing.exec(text)) {
    const [match, run = ''] = found;
    if (run[0] === fence[0] && run.length >= fence.length) return found.index + match.length;
  }
  return text.length;
}

/** Where the code that a run of backticks begins ends: behind the next run of that length in its line, if there is one. */
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
