const NEWLINE = 10;
const END_BYTES = 256;
const MANY_PARTS = 256;

type LineSink = (text: string, isTooLong: boolean) => void;

/** Splits a stream of bytes into lines. Buffers at most one line of `maxBytes`. */
export class LineReader {
  private parts: Buffer[] = [];
  private size = 0;

  constructor(
    private readonly maxBytes: number,
    private readonly sink: LineSink,
  ) {}

  push(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      this.take(chunk.subarray(from, at));
      this.endLine();
      from = at + 1;
    }
    this.take(chunk.subarray(from));
  }

  /** Emits the last line, if no line break ended it. */
  end(): void {
    if (this.size > 0) this.endLine();
  }

  private take(part: Buffer): void {
    if (part.length === 0) return;
    this.size += part.length;
    this.parts.push(part);
    if (this.size > this.maxBytes) this.parts = [endsOf(Buffer.concat(this.parts))];
    // Many small buffers take more memory than their content.
    else if (this.parts.length > MANY_PARTS) this.parts = [Buffer.concat(this.parts)];
  }

  private endLine(): void {
    const [first] = this.parts;
    const bytes = this.parts.length === 1 ? first : Buffer.concat(this.parts);
    const text = bytes?.toString('utf8').replace(/\r$/, '') ?? '';
    const isTooLong = this.size > this.maxBytes;
    this.parts = [];
    this.size = 0;
    if (text.trim() !== '') this.sink(text, isTooLong);
  }
}

function endsOf(bytes: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, END_BYTES), bytes.subarray(Math.max(END_BYTES, bytes.length - END_BYTES))]);
}

/** Returns the id of a response, found in the first or the last bytes of its JSON. */
export function idAtEnds(ends: string): number | undefined {
  const first = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,/.exec(ends);
  const last = /[,{]\s*"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(ends);
  const found = first?.[1] ?? last?.[1];
  return found === undefined ? undefined : Number(found);
}
