import { StringDecoder } from 'node:string_decoder';

/** A piece of output as bytes: a stream that an injected `spawn` gives may hand out texts. */
export function bytesOf(chunk: Buffer | string): Buffer {
  return typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}

/** The first bytes of a stream, up to a limit. */
export class OutputHead {
  private readonly chunks: Buffer[] = [];
  private size = 0;
  /** Whether there was more than the limit. */
  truncated = false;

  constructor(private readonly limit: number) {}

  push(chunk: Buffer): void {
    const room = this.limit - this.size;
    if (chunk.length > room) this.truncated = true;
    if (room <= 0) return;
    this.chunks.push(chunk.subarray(0, room));
    this.size += Math.min(chunk.length, room);
  }

  /** The bytes as UTF-8, decoded as a whole; a character that the limit cut in two is left out. */
  text(): string {
    if (this.size === 0) return '';
    const bytes = Buffer.concat(this.chunks);
    return this.truncated ? new StringDecoder('utf8').write(bytes) : bytes.toString('utf8');
  }
}

const MANY_CHUNKS = 256;

/** The last bytes of a stream, up to a limit. Takes at most about twice its limit, however long the stream is. */
export class OutputTail {
  private chunks: Buffer[] = [];
  private size = 0;
  /** Whether there was more than the limit. */
  truncated = false;

  constructor(private readonly limit: number) {}

  push(chunk: Buffer): void {
    this.chunks.push(chunk);
    this.size += chunk.length;
    if (this.size > this.limit) this.truncated = true;
    if (this.size > 2 * this.limit || this.chunks.length > MANY_CHUNKS) this.compact();
  }

  /** The bytes as UTF-8; a character that the limit cut in two is left out. */
  text(): string {
    if (this.size === 0) return '';
    this.compact();
    const [bytes = Buffer.alloc(0)] = this.chunks;
    return bytes.subarray(this.truncated ? firstWhole(bytes) : 0).toString('utf8');
  }

  /** A copy, so that a few bytes do not keep the large block alive that they were read into. */
  private compact(): void {
    const bytes = Buffer.concat(this.chunks);
    const kept = Buffer.from(bytes.subarray(Math.max(0, bytes.length - this.limit)));
    this.chunks = [kept];
    this.size = kept.length;
  }
}

/** Where the first character begins that is whole. */
function firstWhole(bytes: Buffer): number {
  const head = bytes.subarray(0, 4);
  const at = head.findIndex((byte) => (byte & 0xc0) !== 0x80);
  // Four such bytes in a row are no text in any case.
  return at < 0 && head.length < 4 ? head.length : Math.max(0, at);
}
