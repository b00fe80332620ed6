import { crc32 } from 'node:zlib';

const NEWLINE = 10;

/** The complete lines of a buffer, split into fields, and their length in bytes. Leaves out an incomplete last line. */
export interface ParsedLines {
  readonly lines: readonly (readonly string[])[];
  readonly bytes: number;
}

/** Encodes a line of a log: a checksum and JSON fields, separated by tabs. JSON contains no tab or newline characters. */
export function encodeLine(fields: readonly string[]): string {
  const text = fields.join('\t');
  return `${checksum(text)}\t${text}\n`;
}

/** Splits a buffer into lines. Returns undefined if the checksum of a complete line does not match. */
export function parseLines(bytes: Buffer): ParsedLines | undefined {
  const lines: string[][] = [];
  let start = 0;
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
    const [sum, ...fields] = bytes.toString('utf8', start, end).split('\t');
    if (sum !== checksum(fields.join('\t'))) return undefined;
    lines.push(fields);
    start = end + 1;
  }
  return { lines, bytes: start };
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}
