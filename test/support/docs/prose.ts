import ts from 'typescript';

/** A comment, a string literal, or a paragraph of Markdown, with the line on which it starts. */
export interface Passage {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/** The comments of a TypeScript file. Consecutive `//` lines are one comment; `@example` blocks are left out. */
export function readComments(file: string, source: string): Passage[] {
  const tree = parse(file, source);
  const ranges = commentRanges(tree);
  const passages: Passage[] = [];
  let previous: { end: number; passage: Passage } | undefined;
  for (const range of ranges) {
    const line = tree.getLineAndCharacterOfPosition(range.pos).line + 1;
    const isLine = source.startsWith('//', range.pos);
    const text = isLine ? source.slice(range.pos + 2, range.end).trim() : blockText(source.slice(range.pos, range.end));
    const joins = isLine && previous && /^[ \t]*\r?\n[ \t]*$/.test(source.slice(previous.end, range.pos));
    if (joins && previous) {
      const passage = { ...previous.passage, text: `${previous.passage.text} ${text}` };
      passages[passages.length - 1] = passage;
      previous = { end: range.end, passage };
      continue;
    }
    const parts = isLine ? [text] : text.split('\n\n');
    for (const part of parts) if (!/^(biome-ignore|ts-|v8 |c8 )/.test(part)) passages.push({ file, line, text: part });
    previous = isLine ? { end: range.end, passage: { file, line, text } } : undefined;
  }
  return passages.filter(({ text }) => text.trim() !== '');
}

/** The string literals and template parts of a TypeScript file that hold at least three words. */
export function readLiterals(file: string, source: string): Passage[] {
  const tree = parse(file, source);
  const passages: Passage[] = [];
  const visit = (node: ts.Node): void => {
    const text = literalText(node);
    if (text && text.trim().split(/\s+/).length >= 3) {
      passages.push({ file, line: tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1, text });
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return passages;
}

/** The headings, paragraphs, list items and table cells of a Markdown file. Fenced code is left out. */
export function readMarkdown(file: string, source: string): Passage[] {
  const passages: Passage[] = [];
  let open: { line: number; lines: string[] } | undefined;
  let isCode = false;
  const close = (): void => {
    if (open) passages.push({ file, line: open.line, text: open.lines.join(' ') });
    open = undefined;
  };
  for (const [index, line] of source.split(/\r?\n/).entries()) {
    const text = line.trim();
    if (/^(```|~~~)/.test(text)) {
      close();
      isCode = !isCode;
    } else if (isCode) continue;
    else if (text === '' || /^(<|\[[^\]]+\]: )/.test(text)) close();
    else if (text.startsWith('|')) {
      close();
      for (const cell of text.split(/(?<!\\)\|/)) passages.push({ file, line: index + 1, text: cell.trim() });
    } else if (/^(#{1,6} |[-*+] |\d+[.)] )/.test(text)) {
      close();
      open = { line: index + 1, lines: [text.replace(/^(#{1,6} |[-*+] |\d+[.)] )/, '')] };
      if (text.startsWith('#')) close();
    } else if (open) open.lines.push(text.replace(/^> ?/, ''));
    else open = { line: index + 1, lines: [text.replace(/^> ?/, '')] };
  }
  close();
  return passages.filter(({ text }) => /[a-z]/i.test(text));
}

/** The sentences of a passage. Code in backticks and links count as one word each. */
export function splitSentences(text: string): string[] {
  return text
    .replace(/\{@link ([^}]*)\}/g, 'Link')
    .replace(/``[^`]+``|`[^`]+`/g, 'Code')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/https?:\/\/\S+/g, 'Address')
    .replace(/\b(e\.g|i\.e|etc|vs)\./g, '$1')
    .split(/(?<=[.!?:])["'”’)*_]*\s+(?=["'“(*_]*[A-Z0-9])|\n+/)
    .map((sentence) => sentence.trim())
    .filter(Boolean);
}

let latest = parseFile('', '');

/** Keeps the latest tree, because callers read the comments and then the literals of a file. */
function parse(file: string, source: string): ts.SourceFile {
  if (latest.fileName !== file || latest.text !== source) latest = parseFile(file, source);
  return latest;
}

function parseFile(file: string, source: string): ts.SourceFile {
  return ts.createSourceFile(file, source, ts.ScriptTarget.Latest);
}

/** Returns the places of all comments: `//` and `/*` outside of strings, templates and regular expressions. */
function commentRanges(tree: ts.SourceFile): ts.TextRange[] {
  const literals: ts.TextRange[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isLiteralExpression(node) || ts.isTemplateMiddleOrTemplateTail(node) || ts.isTemplateHead(node)) {
      literals.push({ pos: node.getStart(tree), end: node.end });
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  const comments: ts.TextRange[] = [];
  const comment = /\/\/.*|\/\*[\s\S]*?\*\//g;
  for (let found = comment.exec(tree.text); found !== null; found = comment.exec(tree.text)) {
    const pos = found.index;
    while (literals[0] !== undefined && literals[0].end <= pos) literals.shift();
    const [literal] = literals;
    if (literal !== undefined && literal.pos <= pos) comment.lastIndex = literal.end;
    else comments.push({ pos, end: comment.lastIndex });
  }
  return comments;
}

function blockText(comment: string): string {
  const lines = comment
    .replace(/^\/\*+/, '')
    .replace(/\*\/$/, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trimEnd());
  const kept: string[] = [];
  let tag = '';
  for (const line of lines) {
    const found = /^\s*@(\w+)\s*(.*)$/.exec(line);
    if (found) {
      tag = found[1] ?? '';
      kept.push('', tag === 'example' ? '' : (found[2] ?? '').replace(/^(\w+|\{[^}]*\}) - /, ''));
    } else if (line.trim() === '') kept.push('');
    else if (tag !== 'example') kept.push(line.trim().replace(/^- /, '\n\n'));
  }
  return kept
    .join('\n')
    .split(/\n{2,}/)
    .map((part) => part.replace(/\s*\n\s*/g, ' ').trim())
    .filter(Boolean)
    .join('\n\n');
}

function literalText(node: ts.Node): string | undefined {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  return node.head.text + node.templateSpans.map((span) => `\`x\`${span.literal.text}`).join('');
}
