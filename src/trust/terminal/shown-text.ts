import { safeText } from '../../internal/safe-text.js';

const WIDEST_INDENT = 40;
/** The characters around a row: its number, a bar, blanks and the line feed. */
const MARGIN = 8;

/** A string on one line, in which no character can change what is seen of the rest. */
export function shown(text: string, maxLength?: number): string {
  return safeText(text, { escape: true, maxLength });
}

/**
 * The lines of a text with their numbers, as far as they fit into so many characters. No line can imitate a question: each
 * begins with its number, and each row of a long line with a bar.
 */
export function shownLines(text: string, maxLength: number): readonly string[] {
  const lines = text.replace(/\r?\n$/, '').split(/\r?\n/);
  const rows: string[] = [];
  let length = 0;
  for (const [index, line] of lines.entries()) {
    for (const [part, row] of rowsOf(line).entries()) {
      length += row.length + MARGIN;
      if (length > maxLength) return [...rows, `     … cut in line ${index + 1} of ${lines.length}`];
      rows.push(`${(part === 0 ? String(index + 1) : '').padStart(5)}| ${row}`);
    }
  }
  return rows;
}

function rowsOf(line: string): readonly string[] {
  const rest = line.replace(/^[ \t]+/, '');
  const indent = line.slice(0, line.length - rest.length).replaceAll('\t', '  ');
  const blanks = indent.length > WIDEST_INDENT ? `(${indent.length} blanks) ` : indent;
  const [first = '', ...others] = rest.match(LONG_ROW) ?? [];
  return [blanks + shown(first), ...others.map((row) => shown(row))];
}

/** Whole characters, so that no row begins with half of one. */
const LONG_ROW = /.{1,500}/gsu;
