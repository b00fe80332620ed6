/** A front matter value. Numbers, dates and booleans stay strings. */
export type FrontMatterValue = string | readonly FrontMatterValue[] | { readonly [key: string]: FrontMatterValue };

/** A file split into front matter and body. */
export interface ReadFrontMatter {
  readonly fields: ReadonlyMap<string, FrontMatterValue>;
  readonly body: string;
}

type FrontMatter = ReadFrontMatter | { readonly problem: string };

type Fields = ReadonlyMap<string, FrontMatterValue>;
type Yaml = typeof import('yaml');

/** A problem and the affected lines, counted from zero. */
interface Refusal {
  readonly problem: string;
  readonly lines: readonly number[];
}

const MAX_BYTES = 64 * 1024;
/** `yaml` parses nested values by recursion. Without a limit, a 64 KiB file could overflow the stack. */
const MAX_NESTING = 32;
/** The time for some malformed input grows with the square of the number of tokens. */
const MAX_TOKENS = 5_000;

/**
 * Parses a file that begins with YAML between two `---` lines. If `isOptional`, any other file is a body without fields.
 * Never rejects because of its content.
 */
export async function readFrontMatter(text: string, isOptional = false): Promise<FrontMatter> {
  // `trimStart` also removes a byte order mark.
  const lines = text.trimStart().split(/\r\n?|\n/);
  const hasStart = lines[0]?.trimEnd() === '---';
  const end = lines.findIndex((line, index) => index > 0 && /^(---|\.\.\.)\s*$/.test(line));
  if (isOptional && (!hasStart || end < 0)) return { fields: new Map(), body: lines.join('\n').trim() };
  if (!hasStart) return { problem: 'the file must begin with front matter: add a first line of ---' };
  if (end < 0) return { problem: 'the front matter must end with a line of ---' };
  const fields = await readFields(lines.slice(1, end));
  if ('problem' in fields) return { problem: `the front matter ${fields.problem}` };
  const body = lines.slice(end + 1).join('\n');
  return { fields, body: body.trim() };
}

/** Parses the lines. If YAML rejects some, parses again with the values of those lines in quotes. */
async function readFields(lines: readonly string[]): Promise<Fields | Refusal> {
  if (Buffer.byteLength(lines.join('\n')) > MAX_BYTES) return refuse(`has more than ${MAX_BYTES / 1024} KiB`);
  const yaml = await import('yaml');
  const first = parse(yaml, lines.join('\n'));
  if (!('lines' in first)) return first;
  const second = parse(yaml, quoted(lines, first.lines));
  return 'lines' in second ? first : second;
}

function parse(yaml: Yaml, source: string): Fields | Refusal {
  const unsafe = unsafeLines(yaml, source);
  if (unsafe === undefined) return refuse(`has more than ${MAX_TOKENS} tokens`);
  return unsafe.length === 0
    ? fieldsOf(yaml, source)
    : refuse(`must not have anchors, aliases or tags, or more than ${MAX_NESTING} levels`, unsafe);
}

const OPENING = ['flow-seq-start', 'flow-map-start'];
const CLOSING = ['flow-seq-end', 'flow-map-end'];
const INDICATORS = ['seq-item-ind', 'explicit-key-ind', 'map-value-ind'];
const REFERENCES = ['anchor', 'alias', 'tag'];

/**
 * Returns the lines that are unsafe to parse, or undefined if there are too many tokens. Uses the lexer, because the
 * parser recurses and could overflow the stack.
 */
function unsafeLines({ Lexer, CST }: Yaml, source: string): readonly number[] | undefined {
  const unsafe = new Set<number>();
  const at = { line: 0, indent: 0, brackets: 0, tokens: 0, isText: false };
  for (const token of new Lexer().lex(source)) {
    const type = at.isText ? 'text' : (CST.tokenType(token) ?? 'text');
    at.isText = type === 'scalar';
    at.tokens += 1;
    if (at.tokens > MAX_TOKENS) return undefined;
    if (OPENING.includes(type)) at.brackets += 1;
    if (CLOSING.includes(type)) at.brackets -= 1;
    if (INDICATORS.includes(type)) at.indent += 1;
    if (type === 'space') at.indent = Math.max(at.indent, token.length);
    if (Math.max(at.brackets, at.indent) > MAX_NESTING || REFERENCES.includes(type)) unsafe.add(at.line);
    const breaks = token.split('\n').length - 1;
    if (breaks > 0) at.indent = 0;
    at.line += breaks;
  }
  return [...unsafe];
}

function fieldsOf({ parseDocument, isMap, LineCounter }: Yaml, source: string): Fields | Refusal {
  const lineCounter = new LineCounter();
  const options = { schema: 'failsafe', uniqueKeys: false, stringKeys: true, prettyErrors: false } as const;
  const document = parseDocument(source, { ...options, lineCounter });
  const [error] = document.errors;
  if (error !== undefined) {
    const refused = document.errors.map(({ pos: [offset] }) => lineCounter.linePos(offset).line - 1);
    return refuse(`is invalid: ${error.message}`, refused);
  }
  const { contents } = document;
  if (contents === null) return new Map();
  if (!isMap(contents)) return refuse('must consist of lines of `key: value`', [...source.split('\n').keys()]);
  const known = new Set<string>();
  for (const { key } of contents.items) {
    if (known.has(String(key))) return refuse(`has "${key}" twice`);
    known.add(String(key));
  }
  return new Map(Object.entries(document.toJS() as Readonly<Record<string, FrontMatterValue>>));
}

const FIELD = /^(\s*[^\s#].*?):[ \t]+(\S.*)$/;
/** Matches `key:value` without a space. This is not valid YAML, but common. */
const FIELD_WITHOUT_SPACE = /^(\s*[A-Za-z_][\w-]*):(\S.*)$/;

/**
 * Returns the source with the values of the given lines in quotes. A quoted value includes the indented lines below it.
 */
function quoted(lines: readonly string[], refused: readonly number[]): string {
  const result = [...lines];
  let next = 0;
  for (const index of [...refused].sort((a, b) => a - b)) {
    const line = lines[index] ?? '';
    const [, key, value] = FIELD.exec(line) ?? FIELD_WITHOUT_SPACE.exec(line) ?? [];
    if (index < next || key === undefined || value === undefined) continue;
    const indent = line.search(/\S/);
    next = index + 1;
    while ((lines[next]?.search(/\S/) ?? -1) > indent) next += 1;
    const text = [value, ...lines.slice(index + 1, next)].join('\n').replaceAll("'", "''");
    result.splice(index, next - index, ...`${key}: '${text}'`.split('\n'));
  }
  return result.join('\n');
}

function refuse(problem: string, lines: readonly number[] = []): Refusal {
  return { problem, lines };
}
