/** A value in the front matter of a SKILL.md. */
export type FrontMatterValue = string | readonly string[] | Readonly<Record<string, string>>;

/** A text with its front matter taken apart, or why that cannot be done. */
export type FrontMatter =
  | { readonly fields: ReadonlyMap<string, FrontMatterValue>; readonly body: string }
  | { readonly problem: string };

// What ends a line elsewhere, such as U+2028, does not end one here: hence `s`.
const KEY = /^(?:([A-Za-z_][\w.-]*)|(["'])(.*?)\2):(?:[ \t]+(.*)|)$/s;
const QUOTED = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')(?=\s+#|$)/s;
const INDENTED = /^[ \t]+\S/;

/**
 * Reads the part of YAML that skills are written in: texts (plain, quoted, over several lines, `|` and `>`), lists and
 * maps of texts. A plain text may hold colons, as it does in many a skill that YAML proper would refuse.
 */
export function readFrontMatter(text: string): FrontMatter {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  if (lines[0]?.trimEnd() !== '---') return { problem: 'it does not begin with front matter: a line with ---' };
  const end = lines.findIndex((line, index) => index > 0 && /^(---|\.\.\.)\s*$/.test(line));
  if (end < 0) return { problem: 'its front matter does not end: a line with --- is missing' };
  const fields = readFields(lines.slice(1, end));
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

function readFields(lines: readonly string[]): Map<string, FrontMatterValue> | { problem: string } {
  const fields = new Map<string, FrontMatterValue>();
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? '';
    if (isBlank(line)) {
      at += 1;
      continue;
    }
    const [key, rest] = readField(line.trimEnd()) ?? [];
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
  const [whole, plain, , quoted = '', rest = ''] = KEY.exec(line) ?? [];
  return whole === undefined ? undefined : [plain ?? quoted, rest];
}

/** The indented lines that follow; in a text block also the empty ones between them. A list need not be indented. */
function blockAfter(lines: readonly string[], from: number, isText: boolean): readonly string[] {
  let end = from;
  for (let at = from; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const belongs = INDENTED.test(line) || (!isText && /^- /.test(line));
    if (belongs) end = at + 1;
    else if (line.trim() !== '' && !(line.startsWith('#') && !isText)) break;
  }
  return lines.slice(from, end);
}

function readValue(rest: string, block: readonly string[]): FrontMatterValue {
  const [, style, chomp = ''] = /^([|>])[0-9]*([+-]?)[0-9]*\s*(?:#.*)?$/.exec(rest) ?? [];
  if (style !== undefined) return textBlock(block, { isFolded: style === '>', chomp });
  const whole = joined([rest, ...block]);
  // What is in quotes has no comments in it, on whatever line.
  if (QUOTED.test(whole)) return scalar(withoutComment(whole));
  const inner = block.filter((line) => !isBlank(line));
  const plain = withoutComment(rest);
  if (plain === '' && inner.length > 0) return collection(inner);
  const text = joined([plain, ...inner]);
  return /^\[.*\]$/s.test(text) ? splitList(text.slice(1, -1)).map(scalar) : scalar(text);
}

function joined(lines: readonly string[]): string {
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ');
}

function collection(lines: readonly string[]): FrontMatterValue {
  const items = lines.map((line) => line.trim());
  if (items.every((item) => item.startsWith('- '))) return items.map((item) => scalar(withoutComment(item.slice(2))));
  const pairs = items.map(readField);
  if (pairs.every((pair) => pair !== undefined)) {
    return Object.fromEntries(pairs.map(([key, rest]) => [key, scalar(withoutComment(rest))]));
  }
  return scalar(items.join(' '));
}

function textBlock(lines: readonly string[], { isFolded, chomp }: { isFolded: boolean; chomp: string }): string {
  const indents = lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/));
  const indent = indents.reduce((least, one) => Math.min(least, one), indents[0] ?? 0);
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
  const items = text.match(/(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^,])+/gs) ?? [];
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
  e: '\x1b',
  '"': '"',
  '\\': '\\',
  '/': '/',
};

function unescaped(text: string): string {
  return text.replace(/\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)/gs, (whole) => {
    const letter = whole.charAt(1);
    if (whole.length > 2) return String.fromCharCode(Number.parseInt(whole.slice(2), 16));
    return ESCAPES[letter] ?? whole;
  });
}
