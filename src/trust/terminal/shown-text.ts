import { safeText } from '../../internal/safe-text.js';

const LONGEST_LINE = 500;
const WIDEST_INDENT = 40;

/** A string on one line, in which no character can change what is seen of the rest. */
export function shown(text: string, maxLength?: number): string {
  return safeText(text, { escape: true, maxLength });
}

/**
 * The lines of a text with their numbers, as far as they fit into so many characters. No line can imitate a question: each
 * begins with its number.
 */
export function shownLines(text: string, maxLength: number): readonly string[] {
  const lines = text.replace(/\r?\n$/, '').split(/\r?\n/);
  const rows: string[] = [];
  let length = 0;
  for (const [index, line] of lines.entries()) {
    const row = `${String(index + 1).padStart(5)}| ${shownLine(line)}`;
    length += row.length;
    if (length > maxLength) return [...rows, `     … ${lines.length - index} more lines: read the file itself.`];
    rows.push(row);
  }
  return rows;
}

function shownLine(line: string): string {
  const rest = line.replace(/^[ \t]+/, '');
  const indent = line.slice(0, line.length - rest.length).replaceAll('\t', '  ');
  const blanks = indent.length > WIDEST_INDENT ? `(${indent.length} blanks) ` : indent;
  return blanks + shown(rest, LONGEST_LINE);
}
