import type { Clock } from '../../internal/clock.js';
import { toJson } from '../../internal/json.js';
import { type OpenProcess, openProcess } from '../../process/open-process.js';
import { bytesOf, type GroupEnd, type Spawn } from '../../process/process-group.js';
import type { ProcessLaunch } from '../config/launch.js';
import { McpConnectError, McpRequestError } from '../error.js';
import { type JsonRpcMessage, readMessages, tooLongAnswer } from './json-rpc.js';
import { idAtEnds, LineReader } from './line-reader.js';
import { deliver, type McpTransport } from './transport.js';

export interface ProcessTransportOptions extends ProcessLaunch {
  readonly server: string;
  readonly maxBytes: number;
  /** Ends the program at once, without giving it time to react to the end of its input. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly spawn: Spawn | undefined;
  /** Removes secrets from a string. Called before a string is cut, because it does not find a part of a secret. */
  readonly redact: (text: string) => string;
  readonly onStderrLine: (line: string) => void;
}

/** Bytes that may wait for a server that does not read its input, as a multiple of the size of one message. */
const MAX_WAITING = 4;
/** The number of bytes of the standard error that are kept, and the length of the longest line that is logged. */
const STDERR_BYTES = 65_536;
const STDERR_SHOWN = 2_000;
const LINE_SHOWN = 200;
/** Reading pauses after a chunk of this size, so that a server that writes endlessly does not block the event loop. */
const LARGE_BYTES = 16_384;

/**
 * Runs a server as a child process in its own process group. The whole group ends on close, when the server crashes, and
 * when this process ends. The SDK's own transport ends only the first process.
 */
export class ProcessTransport implements McpTransport {
  onclose: (() => void) | undefined = undefined;
  onerror: ((error: Error) => void) | undefined = undefined;
  onmessage: ((message: JsonRpcMessage) => void) | undefined = undefined;
  protocolVersion: string | undefined = undefined;
  /** The reason why the process ended, with the end of its standard error. Undefined after `close`. */
  ending: string | undefined = undefined;
  private process: OpenProcess | undefined = undefined;
  private closed = false;
  /** Only the first invalid line is reported, since a server may write nothing but invalid lines. */
  private hasReported = false;

  constructor(private readonly options: ProcessTransportOptions) {}

  async start(): Promise<void> {
    const { server, maxBytes } = this.options;
    const errors = new LineReader(STDERR_BYTES, (text, isTooLong) => this.logLine(text, isTooLong));
    const onStderr = (chunk: Buffer) => errors.push(chunk);
    const opened = await openProcess({ ...this.options, stderrBytes: STDERR_BYTES, onStderr });
    if ('failure' in opened) {
      const { code, message, hint } = opened.failure;
      throw new McpConnectError(server, `${message}. ${hint}`, { retryable: code === 'no-resources' });
    }
    this.process = opened;
    const lines = new LineReader(maxBytes, (text, isTooLong) => {
      if (this.closed) return;
      if (isTooLong) this.dropLine(text);
      else this.readLine(text);
    });
    opened.stdout.on('data', (chunk: Buffer | string) => {
      lines.push(bytesOf(chunk));
      if (chunk.length < LARGE_BYTES) return;
      opened.stdout.pause();
      setImmediate(() => opened.stdout.resume());
    });
    // A server that has closed its output can no longer answer, even if its process continues.
    opened.stdout.on('end', () => void opened.stop());
    // A server that has closed its input can receive no requests. Its exit code explains more than the broken pipe.
    opened.stdin.on('error', () => void opened.stop());
    void opened.ended.then((end) => {
      errors.end();
      this.onEnded(end);
    });
  }

  /** Writes a message. Ends the server if too many bytes wait for it. */
  async send(message: JsonRpcMessage): Promise<void> {
    const { process, options } = this;
    if (!this.closed) process?.stdin.write(`${toJson(message)}\n`);
    const { writableLength = 0 } = process?.stdin ?? {};
    if (writableLength > MAX_WAITING * options.maxBytes) {
      this.announceEnd(`it does not read its input, and ${writableLength} bytes wait for it`);
      void process?.stop();
    }
    if (this.closed || process === undefined)
      throw new McpConnectError(options.server, this.ending ?? 'its process is not running');
  }

  /** Pending requests fail at once. Resolves when the server's process group has ended. */
  async close(): Promise<void> {
    this.announceEnd(undefined);
    await this.process?.stop();
  }

  setProtocolVersion(version: string): void {
    this.protocolVersion = version;
  }

  /** Returns the end of the server's standard error, as part of a message. */
  stderr(): string {
    const kept = withoutCutLine(this.process?.stderr() ?? '');
    const text = this.options.redact(kept).trim().slice(-STDERR_SHOWN);
    return text === '' ? '' : `its standard error ends with: ${text}`;
  }

  private logLine(text: string, isTooLong: boolean): void {
    this.options.onStderrLine(isTooLong ? `(a line of more than ${STDERR_BYTES} bytes)` : this.options.redact(text));
  }

  private readLine(text: string): void {
    for (const message of readMessages(text)) {
      if (message !== undefined) deliver(message, this);
      else if (!this.hasReported) {
        this.hasReported = true;
        this.report(
          `It wrote a line that is not a message of the protocol: ${this.options.redact(text).slice(0, LINE_SHOWN)}`,
        );
      }
    }
  }

  private dropLine(ends: string): void {
    const { maxBytes } = this.options;
    this.report(`It wrote a message of more than ${maxBytes} bytes, which was dropped; see \`limits.messageBytes\`.`);
    const id = idAtEnds(ends);
    if (id !== undefined) deliver(tooLongAnswer(id, maxBytes), this);
  }

  private onEnded(end: GroupEnd): void {
    const reason = end.signal === null ? `it exited with code ${end.exitCode}` : `it was ended by ${end.signal}`;
    const stderr = this.stderr();
    if (end.detachedChild)
      this.report('It left a process behind, outside of its process group. The process may still run.');
    this.announceEnd(stderr === '' ? reason : `${reason}; ${stderr}`);
  }

  private announceEnd(reason: string | undefined): void {
    if (this.closed) return;
    this.closed = true;
    this.ending = reason;
    this.onclose?.();
  }

  private report(problem: string): void {
    this.onerror?.(new McpRequestError(this.options.server, problem));
  }
}

/** Removes the first line if the limit cut it, because the redaction does not find a secret that is cut. */
function withoutCutLine(kept: string): string {
  // The limit may cut a character of up to four bytes, which is left out.
  if (Buffer.byteLength(kept) < STDERR_BYTES - 3) return kept;
  const end = kept.indexOf('\n');
  return end < 0 ? '' : kept.slice(end + 1);
}
