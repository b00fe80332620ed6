import { crc32 } from 'node:zlib';

const NEWLINE = 10;

/** The whole lines at the start of some bytes, as fields, and how many bytes they are. What follows was never finished. */
export interface ParsedLines {
  readonly lines: readonly (readonly string[])[];
  readonly bytes: number;
}

/** One line of a log: a checksum, and fields of JSON. JSON never holds a tab or a newline of its own. */
export function encodeLine(fields: readonly string[]): string {
  const text = fields.join('\t');
  return `${checksum(text)}\t${text}\n`;
}

/** Undefined where a finished line is not what `encodeLine` gave. */
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
