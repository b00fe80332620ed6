import { Literals } from './literals.js';

/** A tag in a string: `<name …>`, `</name>` or `<name …/>`. */
export interface TagToken {
  readonly kind: 'open' | 'close' | 'empty';
  readonly name: string;
  /** The text between the name and the end of an opening tag, such as ` id="1"`. */
  readonly attributes: string;
  readonly start: number;
  readonly end: number;
  /** True if the tag opens in code. */
  readonly inCode?: boolean;
}

/** Maximum length of a tag. Longer markup is plain text. */
const LONGEST_TAG = 16_384;
const NAME = '[\\p{L}_][\\p{L}\\p{N}_.:-]*';
const ATTRIBUTE = '[^\\s"\'<>/=`]+(?:\\s*=\\s*(?:"[^"<]*"|\'[^\'<]*\'|[^\\s"\'=<>`]+))?';
const TAG = new RegExp(`^<(?:/(${NAME})\\s*|(${NAME})((?:\\s+${ATTRIBUTE})*)\\s*(/?))>`, 'u');
const ATTRIBUTES = /([^\s"'<>/=`]+)(?:\s*=\s*(?:"([^"<]*)"|'([^'<]*)'|([^\s"'=<>`]+)))?/g;

/** Selects the tags that a scan returns, by name. */
export interface WantedTags {
  /** Returns true for the name of a tag with a handler. */
  isWanted(name: string): boolean;
  /** Returns true for the name of a tag that may also open in code. */
  isWantedInCode(name: string): boolean;
}

/**
 * Returns the wanted tags of a string in order, in linear time. Ignores tags that open in fenced code blocks, in
 * backtick spans within one line, in comments and in CDATA sections, unless they are wanted in code.
 *
 * The closing tag of an open section always counts, and ends the code that began inside the section. See
 * docs/decisions/0010-own-tag-scanner.md.
 */
export function scanTags(text: string, wanted: WantedTags): TagToken[] {
  const scan = new TagScan(wanted);
  if (!text.includes('<')) return scan.tokens;
  const literals = new Literals(text);
  // A code fence starts a line, after an indent, quote marks or a list marker.
  const next = /^(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*(`{3,}|~{3,})(.*)|[<`]/gm;
  for (let found = next.exec(text); found !== null; found = next.exec(text)) {
    const { index } = found;
    const token = found[0] === '<' ? tagAt(text, index) : undefined;
    if (token !== undefined) {
      scan.take(token);
      next.lastIndex = token.end;
      continue;
    }
    const literal = literals.at(index, found);
    next.lastIndex = scan.skip(text, { from: index + 1, ...literal });
  }
  return scan.tokens;
}

interface Skipped {
  readonly from: number;
  readonly end: number;
  /** False for comments and CDATA sections. */
  readonly isCode: boolean;
}

/** Collects the wanted tags, and counts the sections that are open. */
class TagScan {
  readonly tokens: TagToken[] = [];
  /** Open sections by tag name: for each the end of the code in which it began, or 0 outside code. */
  private readonly open = new Map<string, number[]>();
  private nextBracket = -1;

  constructor(private readonly wanted: WantedTags) {}

  take(token: TagToken): void {
    if (this.wanted.isWanted(token.name)) this.add(token, 0);
  }

  /**
   * Returns the index at which the scan continues: the end of the skipped text, or the end of a tag in it that closes a
   * section from before the text.
   */
  skip(text: string, { from, end, isCode }: Skipped): number {
    let at = from;
    for (let start = this.bracket(text, at); start < end; start = this.bracket(text, at)) {
      const token = tagAt(text, start);
      at = token?.end ?? start + 1;
      if (token === undefined || !this.wanted.isWanted(token.name)) continue;
      if (token.kind !== 'close') {
        if (isCode && this.wanted.isWantedInCode(token.name)) this.add({ ...token, inCode: true }, end);
        continue;
      }
      const openedIn = this.open.get(token.name)?.at(-1);
      if (openedIn === undefined) continue;
      this.add(token, end);
      if (openedIn !== end) return token.end;
    }
    return end;
  }

  private add(token: TagToken, codeEnd: number): void {
    this.tokens.push(token);
    const started = this.open.get(token.name);
    if (token.kind === 'open') {
      if (started === undefined) this.open.set(token.name, [codeEnd]);
      else started.push(codeEnd);
    } else if (token.kind === 'close') started?.pop();
  }

  /** Returns the index of the next `<`. Remembers it, so that no text is searched twice. */
  private bracket(text: string, from: number): number {
    if (this.nextBracket < from) {
      const found = text.indexOf('<', from);
      this.nextBracket = found < 0 ? Number.POSITIVE_INFINITY : found;
    }
    return this.nextBracket;
  }
}

/**
 * Returns the attributes of a tag, not decoded: `''` for a name without a value, the first value of a repeated name.
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
