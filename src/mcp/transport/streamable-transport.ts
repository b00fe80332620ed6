import { describeError } from '../../errors.js';
import { Stop } from '../../internal/stop.js';
import { McpRequestError } from '../error.js';
import { HttpClient, type HttpOptions, HttpStatusError, statelessHeaders } from './http-client.js';
import { isEventStream, mediaTypeOf, readEvents, readText, release } from './http-response.js';
import {
  AnswerTooLongError,
  BROKEN_OFF,
  errorIn,
  failedAnswer,
  type JsonRpcMessage,
  NO_ANSWER,
  type RequestId,
  tooLongAnswer,
} from './json-rpc.js';
import { pauseFor } from './time-limits.js';
import { isStateless, type McpTransport, type SendOptions } from './transport.js';

/** Milliseconds that a body may stay open after its response message. */
const SETTLE_MS = 500;
const GOODBYE_MS = 1_000;
/** Milliseconds before a stream is opened again, unless the server sets another delay. */
const PAUSE_MS = 1_000;
const MIN_PAUSE_MS = 200;

interface Exchange {
  readonly stop: Stop;
  isAnswered: boolean;
  /** Cancels a body that stays open after its response message. */
  timer: unknown;
}

interface Position {
  eventId: string | undefined;
  retryMs: number;
}

/**
 * The Streamable HTTP transport. Each request is an HTTP exchange that ends with its response. Another exchange receives
 * messages that the server sends on its own. A stream that ends early is opened again.
 */
export class StreamableTransport implements McpTransport {
  onclose: (() => void) | undefined = undefined;
  onerror: ((error: Error) => void) | undefined = undefined;
  onmessage: ((message: JsonRpcMessage) => void) | undefined = undefined;
  oninterrupted: (() => void) | undefined = undefined;
  readonly hasPerRequestStream = true;
  private readonly http: HttpClient;
  private readonly exchanges = new Map<string, Exchange>();

  constructor(private readonly options: HttpOptions) {
    this.http = new HttpClient(options, this);
  }

  get ending(): string | undefined {
    return this.http.ending;
  }

  get protocolVersion(): string | undefined {
    return this.http.protocolVersion;
  }

  setProtocolVersion(version: string): void {
    this.http.protocolVersion = version;
  }

  async start(): Promise<void> {}

  async send(message: JsonRpcMessage, options: SendOptions = {}): Promise<void> {
    if (!('method' in message) || message.id === undefined) return this.post(message);
    const { id } = message;
    await this.http.whileOpen(() => this.ask(message, id, options));
  }

  async close(): Promise<void> {
    if (!this.http.end(undefined) || this.http.sessionId === undefined) return;
    const goodbye = this.http.request({ method: 'DELETE', signal: AbortSignal.timeout(GOODBYE_MS) });
    await goodbye.then(release).catch(() => {});
  }

  /** Sends a notification or a response. Ignores failures after `close`. */
  private async post(message: JsonRpcMessage): Promise<void> {
    const { method = '', params } = 'method' in message ? message : {};
    if (method === 'notifications/cancelled') this.exchanges.get(String(params?.requestId))?.stop.stop(undefined);
    try {
      release(await this.http.whileOpen((signal) => this.http.post(message, { signal })));
    } catch (error) {
      if (!this.http.closing.stopped || this.ending !== undefined) throw error;
    }
    if (method === 'notifications/initialized') void this.listen().catch(() => {});
  }

  private async ask(message: JsonRpcMessage, id: RequestId, { headers, requestSignal }: SendOptions): Promise<void> {
    const stop = new Stop();
    stop.follow(requestSignal);
    stop.followStop(this.http.closing);
    const exchange: Exchange = { stop, isAnswered: false, timer: undefined };
    this.exchanges.set(String(id), exchange);
    try {
      await this.readAnswer(await this.http.post(message, { signal: stop.signal, headers }), exchange);
      if (stop.stopped || exchange.isAnswered) return;
      this.receive(failedAnswer(id, BROKEN_OFF, 'The connection ended before the response arrived.'));
    } catch (error) {
      if (stop.stopped || exchange.isAnswered) return;
      const answer = answerIn(error, { message, id }, isStateless(this.protocolVersion));
      if (answer === undefined) throw error;
      this.receive(answer);
    } finally {
      stop.release();
      this.exchanges.delete(String(id));
      this.options.clock.clearTimeout(exchange.timer);
    }
  }

  private async readAnswer(response: Response, exchange: Exchange): Promise<void> {
    const { signal } = exchange.stop;
    if (isEventStream(response)) {
      // Without the id of an event, the server cannot continue the stream.
      const isOver = ({ eventId }: Position) =>
        exchange.isAnswered || eventId === undefined || isStateless(this.protocolVersion);
      return this.readStreams(response, signal, isOver);
    }
    if (mediaTypeOf(response) !== 'application/json') throw await this.http.refusal(response);
    const text = await this.untilInterrupted(readText(response, this.options.maxBytes), signal);
    if (text !== undefined) this.http.receive(text, (message) => this.receive(message));
  }

  /** Receives messages that the server sends on its own. A server may refuse this stream with any response. */
  private async listen(): Promise<void> {
    const isOffered = await this.http.whileOpen((signal) => this.listenUntil(signal));
    if (isOffered && !this.http.closing.stopped) this.oninterrupted?.();
  }

  /**
   * Reads the stream until the connection closes. Resolves with false if the server does not offer a stream for its own
   * messages.
   */
  private async listenUntil(closed: AbortSignal): Promise<boolean> {
    try {
      const response = await this.http.openStream(closed);
      if (!isEventStream(response)) {
        release(response);
        return false;
      }
      await this.readStreams(response, closed, () => false);
    } catch (error) {
      if (error instanceof AnswerTooLongError) this.http.end(error.message);
    }
    return true;
  }

  /**
   * Reads a stream. When it breaks off, requests a stream that continues it, and reads this one too. Ends if `isOver`
   * returns true, or if the server answers with something other than a stream.
   */
  private async readStreams(
    first: Response,
    signal: AbortSignal,
    isOver: (position: Position) => boolean,
  ): Promise<void> {
    const { clock } = this.options;
    const position: Position = { eventId: undefined, retryMs: PAUSE_MS };
    let response = first;
    while (isEventStream(response)) {
      await this.untilInterrupted(this.readStream(response, position), signal);
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
      if (data.trim() === '' || name !== 'message') continue;
      this.http.receive(data, (message) => this.receive(message));
    }
  }

  /** Resolves to undefined if the body ends early. The server may be gone then, so the connection pings it. */
  private async untilInterrupted<T>(reading: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    try {
      return await reading;
    } catch (error) {
      if (error instanceof AnswerTooLongError) throw error;
      if (!signal.aborted) this.oninterrupted?.();
      return undefined;
    }
  }

  private receive(message: JsonRpcMessage): void {
    const exchange = 'method' in message ? undefined : this.exchanges.get(String(message.id));
    if (exchange !== undefined && !exchange.isAnswered) {
      exchange.isAnswered = true;
      // The body should end with its response. A body that continues is cancelled.
      exchange.timer = this.options.clock.setTimeout(() => exchange.stop.stop(undefined), SETTLE_MS);
    }
    this.http.deliver(message);
  }
}

/**
 * Returns an error response for a request whose exchange failed. Undefined if the failure does not answer this request.
 */
function answerIn(
  error: unknown,
  { message, id }: { readonly message: JsonRpcMessage; readonly id: RequestId },
  hasNoSessions: boolean,
): JsonRpcMessage | undefined {
  if (error instanceof AnswerTooLongError) return tooLongAnswer(id, error.maxBytes);
  if (statelessHeaders(message) === undefined) return undefined;
  const answer = error instanceof HttpStatusError ? errorIn(error.detail, id) : undefined;
  if (answer !== undefined || hasNoSessions || !isRefusal(error)) return answer;
  // A server of an older revision may refuse the question for its revisions in any way.
  return failedAnswer(id, NO_ANSWER, describeError(error));
}

/** True if the server responded, but not with a demand for an authorization. */
function isRefusal(error: unknown): boolean {
  if (error instanceof HttpStatusError) return error.status !== 401 && error.status !== 403;
  return error instanceof McpRequestError;
}
