import type { Clock } from '../../internal/clock.js';
import { Stop } from '../../internal/stop.js';
import { McpRequestError, McpUnavailableError } from '../error.js';
import { type JsonRpcMessage, readMessages } from './json-rpc.js';
import { pauseFor } from './time-limits.js';
import { deliver, type McpTransport } from './transport.js';

/** Milliseconds that pending requests may still take after the server has lost the session. */
const SETTLE_MS = 500;

/** The state that both HTTP transports share: open, or closed with a reason. */
export class Channel {
  ending: string | undefined = undefined;
  /** Stopped when the connection is closed. */
  readonly closing = new Stop();

  constructor(
    private readonly options: { readonly server: string; readonly clock: Clock },
    private readonly transport: Pick<McpTransport, 'onclose' | 'onerror' | 'onmessage'>,
  ) {}

  get isClosed(): boolean {
    return this.closing.stopped;
  }

  /**
   * Calls `work` with a signal of its own, which fires when the connection is closed. A request of Cloudflare Workers must
   * not even read a signal of another request.
   */
  async whileOpen<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const stop = new Stop();
    stop.followStop(this.closing);
    try {
      return await work(stop.signal);
    } finally {
      stop.release();
    }
  }

  throwIfClosed(): void {
    if (this.isClosed) throw new McpUnavailableError(this.options.server, this.ending ?? 'it was closed');
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
    if (!this.isClosed) deliver(message, this.transport);
  }

  /** Closes the connection. Pending requests fail at once. Returns false if it was already closed. */
  end(reason: string | undefined): boolean {
    if (this.isClosed) return false;
    this.ending = reason;
    this.closing.stop(undefined);
    this.transport.onclose?.();
    return true;
  }

  /** Closes the connection after a delay. The failed request rejects first, and other requests may still get a response. */
  async sessionLost(): Promise<void> {
    await this.whileOpen((signal) => pauseFor(SETTLE_MS, { clock: this.options.clock, signal }));
    this.end('the server no longer knows the session');
  }
}
