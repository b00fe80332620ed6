/** Keeps the first or the last bytes of a stream, up to a limit. */
export class CapturedOutput {
  private readonly chunks: Buffer[] = [];
  private size = 0;
  /** True if the stream was longer than the limit. */
  truncated = false;

  constructor(
    private readonly limit: number,
    private readonly end: 'first' | 'last',
  ) {}

  push(chunk: Buffer): void {
    this.truncated ||= this.size + chunk.length > this.limit;
    if (this.end === 'first' && this.size >= this.limit) return;
    this.chunks.push(chunk);
    this.size += chunk.length;
    while (this.end === 'last' && this.chunks.length > 1 && this.size - (this.chunks[0]?.length ?? 0) >= this.limit)
      this.size -= this.chunks.shift()?.length ?? 0;
  }

  /** Returns the bytes decoded as UTF-8. Leaves out a character that the limit cut in two. */
  text(): string {
    const bytes = Buffer.concat(this.chunks);
    if (!this.truncated) return bytes.toString('utf8');
    return this.end === 'first'
      ? bytes
          .subarray(0, this.limit)
          .toString('utf8')
          .replace(/\uFFFD$/, '')
      : bytes
          .subarray(-this.limit)
          .toString('utf8')
          .replace(/^\uFFFD{1,3}/, '');
  }
}
