/** A value in the front matter of a SKILL.md. */
export type FrontMatterValue = string | readonly string[] | Readonly<Record<string, string>>;

/** A text with its front matter taken apart. */
export interface ReadFrontMatter {
  readonly fields: ReadonlyMap<string, FrontMatterValue>;
  readonly body: string;
}

/** That, or why it cannot be done. */
type FrontMatter = ReadFrontMatter | { readonly problem: string };

// What ends a line elsewhere, such as U+2028, does not end one here: hence `s`.
const QUOTED_KEY = /^(["'])(.*?)\1[ \t]*:(?:[ \t]+(.*)|)$/s;
/** A key that is not quoted begins with nothing that means something in YAML. */
const PLAIN_KEY = /^[^\s\-?:,[\]{}#&*!|>'"%@`]/;
/** Not YAML, and written all the same. */
const KEY_WITHOUT_SPACE = /^([A-Za-z_][\w-]*):(\S.*)$/s;
const QUOTED = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')(?=\s+#|$)/s;
const INDENTED = /^[ \t]+\S/;
/** Begins a text block: its style, and what becomes of the empty lines behind it. */
const TEXT_BLOCK = /^([|>])[0-9]?([+-]?)[0-9]?\s*(?:#.*)?$/;

/**
 * Reads the part of YAML that skills are written in: texts (plain, quoted, over several lines, `|` and `>`), lists and
 * maps of texts. A plain text may hold colons, as it does in many a skill that YAML proper would refuse.
 */
export function readFrontMatter(text: string): FrontMatter {
  // A byte order mark goes as well.
  const lines = text.trimStart().split(/\r\n?|\n/);
  if (lines[0]?.trimEnd() !== '---') return { problem: 'it does not begin with front matter: a line with ---' };
  const end = lines.findIndex((line, index) => index > 0 && /^(---|\.\.\.)\s*$/.test(line));
  if (end < 0) return { problem: 'its front matter does not end: a line with --- is missing' };
  const fields = readFields(withoutIndent(lines.slice(1, end)));
  return 'problem' in fields
    ? fields
    : {
        fields,
        body: lines
          .slice(end + 1)
          .join('\n')
          .trim(),
      };
}

/** The whole of it may be indented. */
function withoutIndent(lines: readonly string[]): readonly string[] {
  const [indent = ''] = /^[ \t]*/.exec(lines.find((line) => !isBlank(line)) ?? '') ?? [];
  return lines.map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line));
}

function readFields(lines: readonly string[]): Map<string, FrontMatterValue> | { problem: string } {
  const fields = new Map<string, FrontMatterValue>();
  for (let at = 0; at < lines.length; ) {
    const line = lines[at]?.trimEnd() ?? '';
    if (isBlank(line)) {
      at += 1;
      continue;
    }
    const [key, rest] = readField(line) ?? KEY_WITHOUT_SPACE.exec(line)?.slice(1) ?? [];
    if (key === undefined || rest === undefined) {
      return { problem: `its front matter has a line that is no field: ${line.slice(0, 80)}` };
    }
    if (fields.has(key)) return { problem: `its front matter has "${key}" twice` };
    const block = blockAfter(lines, at + 1, /^[|>]/.test(rest));
    fields.set(key, readValue(rest, block));
    at += 1 + block.length;
  }
  return fields;
}

/** The key, which may be quoted, and what follows it. */
function readField(line: string): readonly [string, string] | undefined {
  const [whole, , quoted = '', rest = ''] = QUOTED_KEY.exec(line) ?? [];
  if (whole !== undefined) return [quoted, rest];
  const at = line.search(/:(?:[ \t]|$)/);
  return at > 0 && PLAIN_KEY.test(line) ? [line.slice(0, at).trimEnd(), line.slice(at + 1).trim()] : undefined;
}

/** The indented lines that follow; in a text block also the empty ones between them. Lists and brackets need not be indented. */
function blockAfter(lines: readonly string[], from: number, isText: boolean): readonly string[] {
  let end = from;
  for (let at = from; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const belongs = INDENTED.test(line) || (!isText && /^(?:-(?:[ \t]|$)|[\]}])/.test(line));
    if (belongs) end = at + 1;
    else if (line.trim() !== '' && !(line.startsWith('#') && !isText)) break;
  }
  return lines.slice(from, end);
}

function readValue(rest: string, block: readonly string[]): FrontMatterValue {
  const inner = block.filter((line) => !isBlank(line));
  const plain = withoutComment(rest);
  if (plain === '' && inner.length > 0 && !QUOTED.test(joined(block))) return collection(inner);
  const text = joined([plain, ...inner]);
  return /^\[.*\]$/s.test(text) ? splitList(text.slice(1, -1)).map(scalar) : textOf(rest, block);
}

function textOf(rest: string, block: readonly string[]): string {
  const [, style, chomp = ''] = TEXT_BLOCK.exec(rest) ?? [];
  if (style !== undefined) return textBlock(block, { isFolded: style === '>', chomp });
  const whole = joinedInQuotes([rest, ...block]);
  // What is in quotes has no comments in it, on whatever line.
  if (QUOTED.test(whole)) return scalar(withoutComment(whole));
  return scalar(joined([withoutComment(rest), ...block.filter((line) => !isBlank(line))]));
}

function joined(lines: readonly string[]): string {
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ');
}

/** Empty lines are line feeds there. A line feed behind a backslash stays: it is an escape, which some programs write. */
function joinedInQuotes(lines: readonly string[]): string {
  const text = lines
    .map((line) => line.trim())
    .join('\n')
    .trim();
  const isDouble = text.startsWith('"');
  return text.replace(/\n+/g, (breaks, at: number) =>
    isDouble && endsEscaped(text, at) ? '\n' : breaks.slice(1) || ' ',
  );
}

function endsEscaped(text: string, end: number): boolean {
  let start = end;
  while (text.charAt(start - 1) === '\\') start -= 1;
  return (end - start) % 2 === 1;
}

/** A list or a map, whose deeper levels are texts; else a text. */
function collection(lines: readonly string[]): FrontMatterValue {
  const items = groups(lines);
  if (items.every(([head]) => /^-(?:\s|$)/.test(head)))
    return items.map(([head, more]) => textOf(head.slice(1).trim(), more));
  const pairs = items.map(([head, more]) => [readField(head), more] as const);
  const fields = pairs.flatMap(([field, more]) => (field ? [[field[0], textOf(field[1], more)] as const] : []));
  return fields.length === pairs.length ? Object.fromEntries(fields) : scalar(joined(lines));
}

/** The lines that are indented least, each with those below it. */
function groups(lines: readonly string[]): readonly (readonly [string, string[]])[] {
  const indent = leastIndent(lines);
  const found: [string, string[]][] = [];
  for (const line of lines) {
    const last = found.at(-1);
    if (last === undefined || line.search(/\S/) <= indent) found.push([line.trim(), []]);
    else last[1].push(line);
  }
  return found;
}

function leastIndent(lines: readonly string[]): number {
  return lines.reduce((least, line) => (line.trim() === '' ? least : Math.min(least, line.search(/\S/))), Infinity);
}

function textBlock(lines: readonly string[], { isFolded, chomp }: { isFolded: boolean; chomp: string }): string {
  const indent = leastIndent(lines);
  const text = lines.map((line) => line.slice(indent)).join('\n');
  const folded = isFolded ? text.replace(/([^\n])\n(?=[^\n\s])/g, '$1 ').replace(/\n\n/g, '\n') : text;
  return chomp === '-' || folded === '' ? folded : `${folded}\n`;
}

function isBlank(line: string): boolean {
  return line.trim() === '' || line.trimStart().startsWith('#');
}

function withoutComment(text: string): string {
  const trimmed = text.trim();
  const quoted = QUOTED.exec(trimmed);
  return quoted ? quoted[0] : trimmed.replace(/(?:^|\s)#.*$/s, '').trim();
}

function splitList(text: string): string[] {
  const items = text.match(/\s*(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')\s*(?=,|$)|[^,]+/gs) ?? [];
  return items.map((item) => item.trim()).filter((item) => item !== '');
}

function scalar(text: string): string {
  if (/^"(?:[^"\\]|\\.)*"$/s.test(text)) return unescaped(text.slice(1, -1));
  if (/^'(?:[^']|'')*'$/.test(text)) return text.slice(1, -1).replaceAll("''", "'");
  return text;
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '0': '\0',
  a: '\x07',
  b: '\b',
  e: '\x1b',
  f: '\f',
  v: '\v',
  N: '\x85',
  L: '\u2028',
  P: '\u2029',
  _: '\xa0',
  ' ': ' ',
  '\n': '',
  '"': '"',
  '\\': '\\',
  '/': '/',
};

function unescaped(text: string): string {
  return text.replace(/\\(?:U(?:000[0-9a-fA-F]|0010)[0-9a-fA-F]{4}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)/gs, (whole) => {
    const letter = whole.charAt(1);
    if (whole.length > 2) return String.fromCodePoint(Number.parseInt(whole.slice(2), 16));
    return ESCAPES[letter] ?? whole;
  });
}
