import { safeText } from '../../internal/safe-text.js';

const WIDEST_INDENT = 40;
/** Number of characters that each row has besides its text: the line number, a bar, spaces and the line feed. */
const MARGIN = 8;

/** Returns a string on one line, with the characters escaped that could hide or change other text. */
export function shown(text: string, maxLength?: number): string {
  return safeText(text, { escape: true, maxLength });
}

/**
 * Returns the lines of a string with line numbers, up to `maxLength` characters. Each row starts with a number or a
 * bar, so that no line can look like a prompt.
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

/** Matches whole code points, so that no row splits a surrogate pair. */
const LONG_ROW = /.{1,500}/gsu;
