import type { Clock } from '../../internal/clock.js';
import { McpRequestError, McpUnavailableError } from '../error.js';
import { deliver, type JsonRpcMessage, readMessages } from './json-rpc.js';
import { pauseFor } from './pause.js';
import type { McpTransport } from './transport.js';

/** Milliseconds that pending requests may still take after the server has lost the session. */
const SETTLE_MS = 500;

/** The state that both HTTP transports share: open, or closed with a reason. */
export class Channel {
  ending: string | undefined = undefined;
  private readonly closing = new AbortController();

  constructor(
    private readonly options: { readonly server: string; readonly clock: Clock },
    private readonly transport: Pick<McpTransport, 'onclose' | 'onerror' | 'onmessage'>,
  ) {}

  /** Fires when the connection is closed. */
  get closed(): AbortSignal {
    return this.closing.signal;
  }

  throwIfClosed(): void {
    if (this.closed.aborted) throw new McpUnavailableError(this.options.server, this.ending ?? 'it was closed');
  }

  /** Parses the messages in a string. Reports anything that is not a message. */
  *read(text: string): Iterable<JsonRpcMessage> {
    for (const message of readMessages(text)) {
      if (message !== undefined) yield message;
      else
        this.transport.onerror?.(
          new McpRequestError(this.options.server, 'It sent data that is not a message of the protocol.'),
        );
    }
  }

  /** Passes a message to the connection. */
  receive(message: JsonRpcMessage): void {
    if (!this.closed.aborted) deliver(message, this.transport);
  }

  /** Closes the connection. Pending requests fail at once. Returns false if it was already closed. */
  end(reason: string | undefined): boolean {
    if (this.closed.aborted) return false;
    this.ending = reason;
    this.closing.abort();
    this.transport.onclose?.();
    return true;
  }

  /** Closes the connection after a delay. The failed request rejects first, and other requests may still get a response. */
  async sessionLost(): Promise<void> {
    await pauseFor(SETTLE_MS, { clock: this.options.clock, signal: this.closed });
    this.end('the server no longer knows the session');
  }
}
