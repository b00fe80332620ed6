const NEWLINE = 10;
const FIRST_CAPACITY = 4_096;
const KEPT = 256;

/** What is done with the lines of a stream. */
export interface LineSink {
  line(text: string): void;
  /** A line that was too long: only its two ends are kept. */
  tooLong(head: string, tail: string): void;
}

/** Cuts a stream of bytes into lines. Never holds more than one line, and of one that is too long only the ends. */
export class LineReader {
  private buffer: Buffer = Buffer.alloc(0);
  private size = 0;
  /** The last bytes of a line that is too long. */
  private tail: Buffer | undefined = undefined;

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

  private take(part: Buffer): void {
    if (this.tail !== undefined) return this.keepTail(part);
    if (this.size + part.length > this.maxBytes) return this.startDropping(part);
    this.reserve(this.size + part.length);
    part.copy(this.buffer, this.size);
    this.size += part.length;
  }

  /** Twice as much each time, so that a line in many small parts costs no more than its length. */
  private reserve(size: number): void {
    if (size <= this.buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.min(this.maxBytes, Math.max(size, 2 * this.buffer.length, FIRST_CAPACITY)));
    this.buffer.copy(larger, 0, 0, this.size);
    this.buffer = larger;
  }

  private startDropping(part: Buffer): void {
    const whole = Buffer.concat([this.buffer.subarray(0, Math.min(this.size, KEPT)), part.subarray(0, KEPT)]);
    this.tail = Buffer.from(this.buffer.subarray(Math.max(0, this.size - KEPT), this.size));
    this.buffer = Buffer.from(whole.subarray(0, KEPT));
    this.size = this.buffer.length;
    this.keepTail(part);
  }

  private keepTail(part: Buffer): void {
    const joined = Buffer.concat([this.tail ?? Buffer.alloc(0), part.subarray(Math.max(0, part.length - KEPT))]);
    this.tail = Buffer.from(joined.subarray(Math.max(0, joined.length - KEPT)));
  }

  private endLine(): void {
    const { tail, size } = this;
    const text = this.buffer.toString('utf8', 0, size).replace(/\r$/, '');
    this.size = 0;
    this.tail = undefined;
    // What a long line needed is not kept for the short ones after it.
    if (this.buffer.length > 16 * FIRST_CAPACITY) this.buffer = Buffer.alloc(0);
    if (tail !== undefined) this.sink.tooLong(text, tail.toString('utf8'));
    else if (text.trim() !== '') this.sink.line(text);
  }
}

/** The id of the request that a message answers, from the ends of its text, as servers write it; or undefined. */
export function idAtEnds(head: string, tail: string): number | undefined {
  const first = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,/.exec(head);
  const last = /[,{]\s*"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(tail);
  const found = first?.[1] ?? last?.[1];
  return found === undefined ? undefined : Number(found);
}
