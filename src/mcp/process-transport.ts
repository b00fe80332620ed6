import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { describeError } from '../errors.js';
import type { Clock } from '../internal/clock.js';
import { type OpenProcess, openProcess } from '../process/open-process.js';
import type { GroupEnd, Spawn } from '../process/process-group.js';
import { idAtEnds, LineReader } from './line-reader.js';
import { McpConnectError } from './mcp-error.js';
import { deliver, tooLongAnswer } from './message.js';
import type { McpSdk } from './sdk.js';

/** What is started, and how. */
export interface ProcessTransportOptions {
  readonly server: string;
  readonly sdk: McpSdk;
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

/**
 * A server as a child process. It is a process group of its own, and all of it ends: on close, when it crashes, and when
 * this process does. The SDK's own transport ends the first process alone.
 */
export class ProcessTransport implements Transport {
  onclose: (() => void) | undefined = undefined;
  onerror: ((error: Error) => void) | undefined = undefined;
  onmessage: ((message: JSONRPCMessage) => void) | undefined = undefined;
  protocolVersion: string | undefined = undefined;
  /** Why the process is gone, with the last of its standard error; undefined where it was closed here. */
  ending: string | undefined = undefined;
  private process: OpenProcess | undefined = undefined;
  private closed = false;

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
    opened.stdout.on('data', (chunk: Buffer) => lines.push(chunk));
    // A server that can say nothing more is of no use, also where it lives on.
    opened.stdout.on('end', () => void opened.stop());
    // And one that can be told nothing more. How it ended says more than a broken pipe.
    opened.stdin.on('error', () => void opened.stop());
    void opened.ended.then((end) => this.onEnded(end, opened));
  }

  send(message: JSONRPCMessage): Promise<void> {
    const { process } = this;
    if (process === undefined || this.closed) return Promise.reject(this.gone());
    const line = `${JSON.stringify(message)}\n`;
    if (!process.stdin.writableNeedDrain) {
      process.stdin.write(line);
      return DONE;
    }
    return new Promise((resolve, reject) => {
      process.stdin.write(line, (error) => (error ? reject(this.gone(error)) : resolve()));
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

  /** The last of what the server wrote to its standard error. */
  stderr(): string {
    return this.process?.stderr() ?? '';
  }

  line(text: string): void {
    let message: JSONRPCMessage;
    try {
      message = this.options.sdk.JSONRPCMessageSchema.parse(JSON.parse(text));
    } catch (error) {
      const [problem] = describeError(error).split('\n');
      this.report(`It wrote a line that is no message of the protocol (${problem}): ${text.slice(0, 200)}`);
      return;
    }
    deliver(message, (ready) => this.onmessage?.(ready));
  }

  tooLong(head: string, tail: string): void {
    this.report(`It wrote a message of more than ${this.options.maxBytes} bytes, which was dropped.`);
    const id = idAtEnds(head, tail);
    if (id !== undefined) this.onmessage?.(tooLongAnswer(id, this.options.maxBytes));
  }

  private onEnded(end: GroupEnd, { stderr }: OpenProcess): void {
    const how = end.signal === null ? `it exited with code ${end.exitCode}` : `it was ended by ${end.signal}`;
    const said = stderr().trim().slice(-STDERR_SHOWN);
    if (end.detachedChild) this.report('It left a process behind that had a session of its own.');
    this.announceEnd(said === '' ? how : `${how}; its standard error ends with: ${said}`);
  }

  private announceEnd(reason: string | undefined): void {
    if (this.closed) return;
    this.closed = true;
    this.ending = reason;
    this.onclose?.();
  }

  private report(problem: string): void {
    this.onerror?.(new McpConnectError(this.options.server, problem));
  }

  private gone(cause?: unknown): McpConnectError {
    return new McpConnectError(this.options.server, this.ending ?? 'its process does not run', { cause });
  }
}
