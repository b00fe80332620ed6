import type { Clock } from '../../internal/clock.js';
import { type OpenProcess, openProcess } from '../../process/open-process.js';
import { bytesOf } from '../../process/output.js';
import type { GroupEnd, Spawn } from '../../process/process-group.js';
import { McpConnectError, McpRequestError } from '../error.js';
import {
  deliver,
  type JsonRpcMessage,
  type MessageReading,
  noAnswer,
  readMessages,
  tooLongAnswer,
} from './json-rpc.js';
import { idAtEnds, LineReader } from './line-reader.js';
import { PendingServerRequests } from './pending-server-requests.js';
import type { McpTransport } from './transport.js';

/** What is started, and how. */
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
}

const DONE = Promise.resolve();
const STDERR_BYTES = 16_384;
/** Of the standard error, what goes into a message. */
const STDERR_SHOWN = 2_000;
/** Of a line that is no message, what goes into a log. */
const LINE_SHOWN = 200;
/** A piece of output after which others have their turn: a server that writes without end does not keep them waiting. */
const LARGE_BYTES = 16_384;
/** Lines of one piece of output that are no messages and reported one by one. */
const MAX_REPORTS = 10;

/**
 * A server as a child process. It is a process group of its own, and all of it ends: on close, when it crashes, and when
 * this process does. The SDK's own transport ends the first process alone.
 */
export class ProcessTransport implements McpTransport {
  onclose: (() => void) | undefined = undefined;
  onerror: ((error: Error) => void) | undefined = undefined;
  onmessage: ((message: JsonRpcMessage) => void) | undefined = undefined;
  protocolVersion: string | undefined = undefined;
  /** Why the process is gone, with the last of its standard error; undefined where it was closed here. */
  ending: string | undefined = undefined;
  private readonly questions = new PendingServerRequests();
  private process: OpenProcess | undefined = undefined;
  private closed = false;
  /** Of the piece of output that is read now. */
  private badLines = 0;

  constructor(private readonly options: ProcessTransportOptions) {}

  async start(): Promise<void> {
    const { server, maxBytes } = this.options;
    const opened = await openProcess({ ...this.options, stderrBytes: STDERR_BYTES });
    if ('failure' in opened) {
      const { code, message, hint } = opened.failure;
      throw new McpConnectError(server, `${message}. ${hint}`, { retryable: code === 'no-resources' });
    }
    this.process = opened;
    const lines = new LineReader(maxBytes, this);
    opened.stdout.on('data', (chunk: Buffer | string) => {
      if (this.closed) return;
      this.read(bytesOf(chunk), lines);
      if (chunk.length < LARGE_BYTES) return;
      opened.stdout.pause();
      setImmediate(() => opened.stdout.resume());
    });
    // A server that can say nothing more is of no use, also where it lives on.
    opened.stdout.on('end', () => void opened.stop());
    // And one that can be told nothing more. How it ended says more than a broken pipe.
    opened.stdin.on('error', () => void opened.stop());
    void opened.ended.then((end) => this.onEnded(end));
  }

  send(message: JsonRpcMessage): Promise<void> {
    const { process } = this;
    if (process === undefined || this.closed) return Promise.reject(this.gone());
    const line = `${JSON.stringify(message)}\n`;
    if (!process.stdin.writableNeedDrain) {
      process.stdin.write(line);
      this.questions.answered(message);
      return DONE;
    }
    return new Promise((resolve, reject) => {
      process.stdin.write(line, (error) => {
        this.questions.answered(message);
        if (error) reject(this.gone(error));
        else resolve();
      });
    });
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

  line(text: string): void {
    if (this.closed) return;
    for (const read of readMessages(text)) this.take(read, text);
  }

  private take(read: MessageReading, text: string): void {
    if (this.closed) return;
    if ('message' in read) {
      const problem = this.questions.problemOf(read.message);
      if (problem === undefined) deliver(read.message, (ready) => this.onmessage?.(ready));
      else this.giveUp(problem);
      return;
    }
    const { problem, answers } = read;
    this.badLines += 1;
    if (this.badLines <= MAX_REPORTS) {
      this.report(`It wrote a line that is no message of the protocol (${problem}): ${text.slice(0, LINE_SHOWN)}`);
    }
    if (answers !== undefined) this.onmessage?.(noAnswer(answers, problem));
  }

  tooLong(head: string, tail: string): void {
    if (this.closed) return;
    this.report(`It wrote a message of more than ${this.options.maxBytes} bytes, which was dropped.`);
    const id = idAtEnds(head, tail);
    if (id !== undefined) this.onmessage?.(tooLongAnswer(id, this.options.maxBytes));
  }

  /** The server is given up. */
  private giveUp(reason: string): void {
    this.announceEnd(reason);
    void this.process?.stop();
  }

  private read(chunk: Buffer, lines: LineReader): void {
    this.badLines = 0;
    lines.push(chunk);
    const more = this.badLines - MAX_REPORTS;
    if (more > 0) this.report(`It wrote ${more} more lines that are no messages of the protocol.`);
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

  private gone(cause?: unknown): McpConnectError {
    return new McpConnectError(this.options.server, this.ending ?? 'its process does not run', { cause });
  }
}
