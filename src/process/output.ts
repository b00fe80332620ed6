import { StringDecoder } from 'node:string_decoder';

/** Returns a chunk of output as bytes. Streams of an injected `spawn` may emit strings. */
export function bytesOf(chunk: Buffer | string): Buffer {
  return typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}

/** Keeps the first bytes of a stream, up to a limit. */
export class OutputHead {
  private readonly chunks: Buffer[] = [];
  private size = 0;
  /** True if the stream was longer than the limit. */
  truncated = false;

  constructor(private readonly limit: number) {}

  push(chunk: Buffer): void {
    const room = this.limit - this.size;
    if (chunk.length > room) this.truncated = true;
    if (room <= 0) return;
    this.chunks.push(chunk.subarray(0, room));
    this.size += Math.min(chunk.length, room);
  }

  /** Returns the bytes decoded as UTF-8. Leaves out a character that the limit cut in two. */
  text(): string {
    if (this.size === 0) return '';
    const bytes = Buffer.concat(this.chunks);
    return this.truncated ? new StringDecoder('utf8').write(bytes) : bytes.toString('utf8');
  }
}

const MANY_CHUNKS = 256;

/**
 * Keeps the last bytes of a stream, up to a limit. Uses about twice that much memory at most, for any length of stream.
 */
export class OutputTail {
  private chunks: Buffer[] = [];
  private size = 0;
  /** True if the stream was longer than the limit. */
  truncated = false;

  constructor(private readonly limit: number) {}

  push(chunk: Buffer): void {
    this.chunks.push(chunk);
    this.size += chunk.length;
    if (this.size > this.limit) this.truncated = true;
    if (this.size > 2 * this.limit || this.chunks.length > MANY_CHUNKS) this.compact();
  }

  /** Returns the bytes decoded as UTF-8. Leaves out a character that the limit cut in two. */
  text(): string {
    if (this.size === 0) return '';
    this.compact();
    const [bytes = Buffer.alloc(0)] = this.chunks;
    return bytes.subarray(this.truncated ? firstWhole(bytes) : 0).toString('utf8');
  }

  /** Copies the bytes, because a slice of a large read buffer would keep the whole buffer in memory. */
  private compact(): void {
    const bytes = Buffer.concat(this.chunks);
    const kept = Buffer.from(bytes.subarray(Math.max(0, bytes.length - this.limit)));
    this.chunks = [kept];
    this.size = kept.length;
  }
}

/** Returns the index of the first complete UTF-8 character. */
function firstWhole(bytes: Buffer): number {
  const head = bytes.subarray(0, 4);
  const at = head.findIndex((byte) => (byte & 0xc0) !== 0x80);
  // Four continuation bytes in a row are invalid UTF-8, so nothing is skipped.
  return at < 0 && head.length < 4 ? head.length : Math.max(0, at);
}
