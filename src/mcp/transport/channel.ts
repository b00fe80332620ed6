import type { Clock } from '../../internal/clock.js';
import { McpRequestError, McpUnavailableError } from '../error.js';
import { deliver, type JsonRpcMessage, noAnswer, readMessages } from './json-rpc.js';
import { pauseFor } from './pause.js';
import { PendingServerRequests } from './pending-server-requests.js';
import type { McpTransport } from './transport.js';

/** How long calls on their way may still end when the server has forgotten the session. */
const SETTLE_MS = 500;

/** The state that every transport over HTTP has: open or over, and what the server has asked. */
export class Channel {
  ending: string | undefined = undefined;
  private readonly closing = new AbortController();
  private readonly questions = new PendingServerRequests();

  constructor(
    private readonly options: { readonly server: string; readonly clock: Clock },
    private readonly transport: Pick<McpTransport, 'onclose' | 'onerror' | 'onmessage'>,
  ) {}

  /** Fires when the connection is over. */
  get closed(): AbortSignal {
    return this.closing.signal;
  }

  throwIfClosed(): void {
    if (this.closed.aborted) throw new McpUnavailableError(this.options.server, this.ending ?? 'it was closed');
  }

  /** Reads the messages of a text. Reports anything else; a request that it answers fails. */
  *read(text: string): Iterable<JsonRpcMessage> {
    for (const read of readMessages(text)) {
      if ('message' in read) yield read.message;
      else {
        const { problem, answers } = read;
        const complaint = `It sent something that is not a message of the protocol (${problem}).`;
        this.transport.onerror?.(new McpRequestError(this.options.server, complaint));
        if (answers !== undefined) yield noAnswer(answers, problem);
      }
    }
  }

  /** Hands a message to the connection. Ends when the server asks too much. */
  receive(message: JsonRpcMessage): void {
    if (this.closed.aborted) return;
    const problem = this.questions.problemOf(message);
    if (problem === undefined) deliver(message, (ready) => this.transport.onmessage?.(ready));
    else this.end(problem);
  }

  /** A message has reached the server, or failed to. */
  sent(message: JsonRpcMessage): void {
    this.questions.answered(message);
  }

  /** Ends the connection: whoever waits for an answer fails at once. False if it was over before. */
  end(reason: string | undefined): boolean {
    if (this.closed.aborted) return false;
    this.ending = reason;
    this.closing.abort();
    this.transport.onclose?.();
    return true;
  }

  /** Whoever sent the request learns first that it was not done, and calls on their way may still be answered. */
  async sessionLost(): Promise<void> {
    await pauseFor(SETTLE_MS, { clock: this.options.clock, signal: this.closed });
    this.end('the server has forgotten the session');
  }
}
