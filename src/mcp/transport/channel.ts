import type { Clock } from '../../internal/clock.js';
import { McpRequestError, McpUnavailableError } from '../error.js';
import { deliver, type JsonRpcMessage, readMessages } from './json-rpc.js';
import { pauseFor } from './pause.js';
import type { McpTransport } from './transport.js';

/** How long calls on their way may still end when the server has forgotten the session. */
const SETTLE_MS = 500;

/** The state that every transport over HTTP has: open or over. */
export class Channel {
  ending: string | undefined = undefined;
  private readonly closing = new AbortController();

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

  /** Reads the messages of a string, and reports anything else. */
  *read(text: string): Iterable<JsonRpcMessage> {
    for (const message of readMessages(text)) {
      if (message !== undefined) yield message;
      else this.transport.onerror?.(new McpRequestError(this.options.server, 'It sent no message of the protocol.'));
    }
  }

  /** Hands a message to the connection. */
  receive(message: JsonRpcMessage): void {
    if (!this.closed.aborted) deliver(message, (ready) => this.transport.onmessage?.(ready));
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
