import { Channel } from './channel.js';
import { readEvents } from './event-stream.js';
import { HttpClient, type HttpOptions, isEventStream, mediaTypeOf, readText, release } from './http-client.js';
import { AnswerTooLongError, BROKEN_OFF, failedAnswer, type JsonRpcMessage, tooLongAnswer } from './json-rpc.js';
import { pauseFor } from './pause.js';
import type { McpTransport } from './transport.js';

/** How long a body may go on after its answer. */
const SETTLE_MS = 500;
/** How long the end of the session may take to be announced. */
const GOODBYE_MS = 1_000;
/** The pause before a stream goes on, unless the server names another one. */
const PAUSE_MS = 1_000;
const MIN_PAUSE_MS = 200;

/** A request on its way. */
interface Exchange {
  readonly controller: AbortController;
  isAnswered: boolean;
  /** Lets go of a body that goes on after its answer. */
  timer: unknown;
}

/** The place in a stream that a new one goes on from. */
interface Position {
  eventId: string | undefined;
  retryMs: number;
}

/**
 * A server over Streamable HTTP. Each request is an HTTP exchange that ends with its answer; a second one listens to what
 * the server says by itself. A stream that ends early is opened again.
 */
export class StreamableTransport implements McpTransport {
  onclose: (() => void) | undefined = undefined;
  onerror: ((error: Error) => void) | undefined = undefined;
  onmessage: ((message: JsonRpcMessage) => void) | undefined = undefined;
  ondoubt: (() => void) | undefined = undefined;
  private readonly channel: Channel;
  private readonly http: HttpClient;
  private readonly exchanges = new Map<number, Exchange>();

  constructor(private readonly options: HttpOptions) {
    this.channel = new Channel(options, this);
    this.http = new HttpClient(options, this.channel);
    this.channel.closed.addEventListener('abort', () => {
      for (const { controller } of this.exchanges.values()) controller.abort();
    });
  }

  get ending(): string | undefined {
    return this.channel.ending;
  }

  get protocolVersion(): string | undefined {
    return this.http.protocolVersion;
  }

  setProtocolVersion(version: string): void {
    this.http.protocolVersion = version;
  }

  async start(): Promise<void> {}

  async send(message: JsonRpcMessage): Promise<void> {
    this.channel.throwIfClosed();
    if ('method' in message && message.id !== undefined) await this.ask(message, Number(message.id));
    else await this.tell(message);
  }

  /** Tells the server that the session is over. */
  async close(): Promise<void> {
    if (!this.channel.end(undefined) || this.http.sessionId === undefined) return;
    const goodbye = this.http.request({ method: 'DELETE', signal: AbortSignal.timeout(GOODBYE_MS) });
    await goodbye.then(release).catch(() => {});
  }

  /** Sends a notification or an answer. Once the connection is over, nobody has to be told any more. */
  private async tell(message: JsonRpcMessage): Promise<void> {
    const { closed } = this.channel;
    const { method = '', params } = 'method' in message ? message : {};
    if (method === 'notifications/cancelled') this.exchanges.get(Number(params?.requestId))?.controller.abort();
    try {
      release(await this.http.post(message, { signal: closed }));
    } catch (error) {
      if (!closed.aborted || this.ending !== undefined) throw error;
    }
    if (method === 'notifications/initialized') void this.listen();
  }

  /** Sends a request and stays until its answer was delivered. */
  private async ask(message: JsonRpcMessage, id: number): Promise<void> {
    const { clock, maxBytes } = this.options;
    const controller = new AbortController();
    const { signal } = controller;
    const exchange: Exchange = { controller, isAnswered: false, timer: undefined };
    this.exchanges.set(id, exchange);
    try {
      await this.readAnswer(await this.http.post(message, { signal }), exchange);
      if (signal.aborted || exchange.isAnswered) return;
      this.receive(failedAnswer(id, BROKEN_OFF, 'The connection broke off before the answer came.'));
    } catch (error) {
      if (signal.aborted || exchange.isAnswered) return;
      if (!(error instanceof AnswerTooLongError)) throw error;
      this.receive(tooLongAnswer(id, maxBytes));
    } finally {
      this.exchanges.delete(id);
      clock.clearTimeout(exchange.timer);
    }
  }

  private async readAnswer(response: Response, exchange: Exchange): Promise<void> {
    const { signal } = exchange.controller;
    if (isEventStream(response)) {
      // Without the id of an event the server does not know what to go on with.
      return this.readStreams(response, signal, ({ eventId }) => exchange.isAnswered || eventId === undefined);
    }
    if (mediaTypeOf(response) !== 'application/json') throw await this.http.refusal(response);
    const text = await this.untilBroken(readText(response, this.options.maxBytes), signal);
    if (text !== undefined) this.read(text);
  }

  /** Listens to what the server says by itself. A server need not offer that, and may refuse it in any way. */
  private async listen(): Promise<void> {
    const { closed } = this.channel;
    try {
      const response = await this.http.openStream(closed);
      if (!isEventStream(response)) return release(response);
      await this.readStreams(response, closed, () => false);
    } catch (error) {
      if (error instanceof AnswerTooLongError) this.channel.end(error.message);
    }
    if (!closed.aborted) this.ondoubt?.();
  }

  /** Reads a stream, and the streams that go on with it, until it is over or the server opens no other. */
  private async readStreams(
    first: Response,
    signal: AbortSignal,
    isOver: (position: Position) => boolean,
  ): Promise<void> {
    const { clock } = this.options;
    const position: Position = { eventId: undefined, retryMs: PAUSE_MS };
    let response = first;
    while (isEventStream(response)) {
      await this.untilBroken(this.readStream(response, position), signal);
      if (signal.aborted || isOver(position)) return;
      await pauseFor(Math.max(position.retryMs, MIN_PAUSE_MS), { clock, signal });
      response = await this.http.openStream(signal, position.eventId);
    }
    release(response);
  }

  private async readStream({ body }: Response, position: Position): Promise<void> {
    for await (const { name, data, id, retryMs } of readEvents(body, this.options.maxBytes)) {
      if (id !== undefined) position.eventId = id;
      if (retryMs !== undefined) position.retryMs = retryMs;
      if (data.trim() !== '' && name === 'message') this.read(data);
    }
  }

  /** Undefined if the body breaks off: then the server may be gone. */
  private async untilBroken<T>(reading: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    try {
      return await reading;
    } catch (error) {
      if (error instanceof AnswerTooLongError) throw error;
      if (!signal.aborted) this.ondoubt?.();
      return undefined;
    }
  }

  private read(text: string): void {
    for (const message of this.channel.read(text)) this.receive(message);
  }

  private receive(message: JsonRpcMessage): void {
    const exchange = 'method' in message ? undefined : this.exchanges.get(Number(message.id));
    if (exchange !== undefined && !exchange.isAnswered) {
      exchange.isAnswered = true;
      // Its body ends with it. What a server drips on and on is read no further.
      exchange.timer = this.options.clock.setTimeout(() => exchange.controller.abort(), SETTLE_MS);
    }
    this.channel.receive(message);
  }
}
