import type { Clock } from '../../internal/clock.js';
import { type OpenProcess, openProcess } from '../../process/open-process.js';
import { bytesOf } from '../../process/output.js';
import type { GroupEnd, Spawn } from '../../process/process-group.js';
import { McpConnectError, McpRequestError } from '../error.js';
import { deliver, type JsonRpcMessage, readMessages, tooLongAnswer } from './json-rpc.js';
import { idAtEnds, LineReader } from './line-reader.js';
import type { McpTransport } from './transport.js';

/** The program of a server, and how it is started. */
export interface ProcessTransportOptions {
  readonly server: string;
  readonly command: string;
  readonly argv0: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly maxBytes: number;
  /** Ends the program at once, without waiting for it to see the end of its input. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly spawn: Spawn | undefined;
  /** Called with each line of the standard error; the middle of a line over 4,096 bytes is missing. */
  readonly onStderrLine: (line: string) => void;
}

const DONE = Promise.resolve();
const STDERR_BYTES = 16_384;
const STDERR_LINE_BYTES = 4_096;
/** The part of the standard error that goes into a message. */
const STDERR_SHOWN = 2_000;
/** The part of a line that goes into the log when the line is not a message. */
const LINE_SHOWN = 200;
/** After a chunk of this size other work has its turn: a server that writes without end does not block it. */
const LARGE_BYTES = 16_384;

/**
 * A server as a child process. It is a process group of its own, and all of it ends: on close, when it crashes, and when
 * this process does. The SDK's own transport ends the first process alone.
 */
export class ProcessTransport implements McpTransport {
  onclose: (() => void) | undefined = undefined;
  onerror: ((error: Error) => void) | undefined = undefined;
  onmessage: ((message: JsonRpcMessage) => void) | undefined = undefined;
  protocolVersion: string | undefined = undefined;
  /** Why the process is gone, with the last of its standard error. Undefined if it was closed here. */
  ending: string | undefined = undefined;
  private process: OpenProcess | undefined = undefined;
  private closed = false;
  /** Only the first line that is not a message is reported: a server may write nothing else. */
  private hasReported = false;

  constructor(private readonly options: ProcessTransportOptions) {}

  async start(): Promise<void> {
    const { server, maxBytes } = this.options;
    const errors = new LineReader(STDERR_LINE_BYTES, (text) => this.options.onStderrLine(text));
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
    // A server that can say nothing more is of no use, even if it lives on.
    opened.stdout.on('end', () => void opened.stop());
    // Nor is one that can be told nothing more. How it ended says more than a broken pipe.
    opened.stdin.on('error', () => void opened.stop());
    void opened.ended.then((end) => {
      errors.end();
      this.onEnded(end);
    });
  }

  /** Writes a message. If the server is gone before it reads it, the transport ends. */
  send(message: JsonRpcMessage): Promise<void> {
    if (this.process === undefined || this.closed) {
      return Promise.reject(new McpConnectError(this.options.server, this.ending ?? 'its process does not run'));
    }
    this.process.stdin.write(`${JSON.stringify(message)}\n`);
    return DONE;
  }

  /** Whoever waits for an answer fails at once. Resolves when nothing of the server's process group is left. */
  async close(): Promise<void> {
    this.announceEnd(undefined);
    await this.process?.stop();
  }

  setProtocolVersion(version: string): void {
    this.protocolVersion = version;
  }

  /** The last of what the server wrote to its standard error, as it goes into a message. */
  stderr(): string {
    const said = this.process?.stderr().trim().slice(-STDERR_SHOWN) ?? '';
    return said === '' ? '' : `its standard error ends with: ${said}`;
  }

  private readLine(text: string): void {
    for (const message of readMessages(text)) {
      if (message !== undefined) deliver(message, (ready) => this.onmessage?.(ready));
      else if (!this.hasReported) {
        this.hasReported = true;
        this.report(`It wrote a line that is not a message of the protocol: ${text.slice(0, LINE_SHOWN)}`);
      }
    }
  }

  private dropLine(ends: string): void {
    const { maxBytes } = this.options;
    this.report(`It wrote a message of more than ${maxBytes} bytes, which was dropped.`);
    const id = idAtEnds(ends);
    if (id !== undefined) this.onmessage?.(tooLongAnswer(id, maxBytes));
  }

  private onEnded(end: GroupEnd): void {
    const how = end.signal === null ? `it exited with code ${end.exitCode}` : `it was ended by ${end.signal}`;
    const said = this.stderr();
    if (end.detachedChild) this.report('It left a process behind that had a session of its own.');
    this.announceEnd(said === '' ? how : `${how}; ${said}`);
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
