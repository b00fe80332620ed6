import { crc32 } from 'node:zlib';

const NEWLINE = 10;
/** Length in bytes of the checksum and the tab at the start of each line of a log. */
const SUM_BYTES = 9;

/** A line of a log: its fields, and `at`, the byte position of its start in the buffer. */
export interface ParsedLine {
  readonly fields: readonly string[];
  readonly at: number;
}

/** The complete lines of a buffer, and their total length in bytes. Excludes an incomplete last line. */
export interface ParsedLines {
  readonly lines: readonly ParsedLine[];
  readonly bytes: number;
}

/**
 * Encodes a line of a log: a checksum and the fields, separated by tabs. Each field is JSON, so it contains no tab or
 * newline characters.
 */
export function encodeLine(fields: readonly string[]): string {
  const text = fields.join('\t');
  return `${checksum(text)}\t${text}\n`;
}

/** Splits a buffer into the lines of a log. Returns undefined if a complete line does not match its checksum. */
export function parseLines(bytes: Buffer): ParsedLines | undefined {
  const lines: ParsedLine[] = [];
  let start = 0;
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
    const text = bytes.subarray(start + SUM_BYTES, end);
    if (bytes.toString('latin1', start, start + SUM_BYTES) !== `${checksum(text)}\t`) return undefined;
    lines.push({ fields: text.toString().split('\t'), at: start });
    start = end + 1;
  }
  return { lines, bytes: start };
}

/** Returns the CRC-32 of a string or a buffer as eight hexadecimal digits. */
export function checksum(text: string | Buffer): string {
  return crc32(text).toString(16).padStart(8, '0');
}
