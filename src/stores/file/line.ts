import { crc32 } from 'node:zlib';

const NEWLINE = 10;
/** Length of a checksum and the following tab. */
const SUM_BYTES = 9;

/** The fields of a line, and its position in the buffer in bytes. */
export interface ParsedLine {
  readonly fields: readonly string[];
  readonly at: number;
}

/** The complete lines of a buffer and their length in bytes. An incomplete last line is not included. */
export interface ParsedLines {
  readonly lines: readonly ParsedLine[];
  readonly bytes: number;
}

/** Encodes a line of a log: a checksum and JSON fields, separated by tabs. JSON contains no tab or newline characters. */
export function encodeLine(fields: readonly string[]): string {
  const text = fields.join('\t');
  return `${checksum(text)}\t${text}\n`;
}

/** Splits a buffer into lines. Returns undefined if the checksum of a complete line does not match. */
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

/** Returns a checksum of eight characters. */
export function checksum(text: string | Buffer): string {
  return crc32(text).toString(16).padStart(8, '0');
}
