import type { Transport, TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { describeError } from '../../errors.js';
import type { Clock } from '../../internal/clock.js';
import { McpSessionLostError, McpUnauthorizedError, McpUnavailableError } from '../error.js';
import type { McpOAuth } from '../options.js';
import { describeNetworkError, HttpExchange, httpStatusOf } from './http-exchange.js';
import { AnswerTooLongError, brokenOffAnswer, deliver, tooLongAnswer } from './json-rpc.js';
import { PendingServerRequests } from './pending-server-requests.js';
import { safeProvider } from './safe-provider.js';
import type { McpSdk } from './sdk.js';

/** A server over HTTP, and how it is reached. */
export interface HttpTransportOptions {
  readonly server: string;
  readonly sdk: McpSdk;
  readonly kind: 'http' | 'sse';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
  readonly maxBytes: number;
  readonly oauth: McpOAuth | undefined;
  /** Waits for a person, with the time limits held. */
  readonly hold: <T>(work: () => Promise<T>) => Promise<T>;
  readonly clock: Clock;
  /** Called where the connection may be broken: somebody should try it. */
  readonly onDoubt: () => void;
}

const MAX_AUTHORIZATIONS = 3;
/** How long an answer may be under way inside the SDK after the end of the body that it came in. */
const SETTLE_MS = 500;
/** How long the end of the session may take to be announced. */
const GOODBYE_MS = 1_000;

const CANCELLED = 'notifications/cancelled';
/** What lets go of an exchange that nobody waits for any more. */
const LET_GO = new DOMException('Nobody waits for this answer any more.', 'AbortError');

/** A request whose exchange is not over. */
interface OpenRequest {
  isAnswered: boolean;
  /** Whether the body that the answer was to come in has come to its end. */
  hasEnded: boolean;
  /** By what the SDK can go on with it then. */
  resumption: string | undefined;
  /** Lets go of the HTTP request that it was made by. */
  readonly exchange: AbortController;
}

type Inner = Transport & {
  finishAuth(code: string): Promise<void>;
  terminateSession?(): Promise<void>;
};

/**
 * A server over Streamable HTTP or SSE: the SDK's transport, and what it leaves to its user. A connection that breaks is
 * closed; a request whose answer cannot come any more fails; bodies are bounded; authorization goes round three times.
 */
export class HttpTransport implements Transport {
  onclose: (() => void) | undefined = undefined;
  onerror: ((error: Error) => void) | undefined = undefined;
  onmessage: ((message: JSONRPCMessage) => void) | undefined = undefined;
  protocolVersion: string | undefined = undefined;
  /** Why the connection is over, where it was not closed here. */
  ending: string | undefined = undefined;
  private inner: Inner;
  private readonly exchange: HttpExchange;
  /** By numbers, as the SDK counts them, also where a server makes texts of them. */
  private readonly open = new Map<number, OpenRequest>();
  private readonly questions = new PendingServerRequests();
  private readonly timers = new Set<unknown>();
  private state: 'new' | 'started' | 'closed' = 'new';

  constructor(private readonly options: HttpTransportOptions) {
    this.exchange = new HttpExchange({
      ...options,
      signalOf: (id) => this.open.get(id)?.exchange.signal,
      onUnreachable: (error) => this.break(describeNetworkError(error)),
      onNoStream: (lastEventId) => this.resumptionRefused(lastEventId),
      onBodyEnd: (id, error) => (id === undefined ? this.streamEnded(error) : this.answerEnded(id, error)),
    });
    this.inner = this.create();
  }

  get sessionId(): string | undefined {
    return this.inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.protocolVersion = version;
    this.inner.setProtocolVersion?.(version);
  }

  async start(): Promise<void> {
    await this.authorized(
      () => this.inner.start(),
      () => {
        // Started once, it does not start again.
        this.inner = this.create();
        return this.inner.start();
      },
    );
    this.state = 'started';
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (this.state === 'closed') throw new McpUnavailableError(this.options.server, this.ending ?? 'it was closed');
    const id = 'method' in message && 'id' in message ? Number(message.id) : undefined;
    const exchange = new AbortController();
    const request: OpenRequest = { isAnswered: false, hasEnded: false, resumption: undefined, exchange };
    if (id !== undefined) this.open.set(id, request);
    const onresumptiontoken = (token: string) => {
      request.resumption = token;
      options?.onresumptiontoken?.(token);
    };
    const send = () => this.inner.send(message, { ...options, onresumptiontoken });
    try {
      await this.authorized(send, send);
    } catch (error) {
      if (id !== undefined) this.open.delete(id);
      // Nobody has to be told any more that a call is over, once the connection is.
      else if (this.exchange.closing) return;
      throw this.isSessionLost(error) ? this.sessionLost(error) : error;
    } finally {
      this.questions.answered(message);
      if ('method' in message && message.method === CANCELLED) this.letGo(message.params?.requestId as number);
    }
  }

  /** Whoever waits for an answer fails at once. Tells the server that the session is over, and closes the connection. */
  async close(): Promise<void> {
    if (this.state === 'closed') return;
    this.state = 'closed';
    this.exchange.closing = true;
    this.onclose?.();
    if (this.sessionId !== undefined) await this.inTime(this.inner.terminateSession?.());
    await this.shut();
  }

  /** Hands over the code that the user came back with. */
  async finishAuth(code: string): Promise<void> {
    await this.inner.finishAuth(code);
  }

  private create(): Inner {
    const { server, sdk, kind, url, headers, oauth } = this.options;
    const settings = {
      requestInit: { headers: { ...headers } },
      fetch: this.exchange.fetch,
      ...(oauth && { authProvider: safeProvider(oauth.provider, server) }),
    };
    const inner: Inner =
      kind === 'sse' ? new sdk.SSEClientTransport(url, settings) : new sdk.StreamableHTTPClientTransport(url, settings);
    inner.onmessage = (message) => this.received(message);
    inner.onerror = (error) => this.failed(error);
    return inner;
  }

  private received(message: JSONRPCMessage): void {
    const problem = this.questions.problemOf(message);
    if (problem !== undefined) return this.break(problem);
    if (!('method' in message) && message.id !== undefined) this.answered(Number(message.id));
    deliver(message, (ready) => this.onmessage?.(ready));
  }

  /** The body that an answer came in ends with it, or is let go of. */
  private answered(id: number): void {
    const request = this.open.get(id);
    if (request === undefined) return;
    request.isAnswered = true;
    if (request.hasEnded) this.open.delete(id);
    else this.later(SETTLE_MS, () => this.letGo(id));
  }

  /** What a server drips on and on is read no further. */
  private letGo(id: number): void {
    const request = this.open.get(id);
    if (request === undefined) return;
    this.open.delete(id);
    if (request.resumption !== undefined && !request.isAnswered) this.exchange.unwanted.push(request.resumption);
    request.exchange.abort(LET_GO);
  }

  private failed(error: Error): void {
    if (this.state === 'closed' || error.message.includes(LET_GO.message)) return;
    this.onerror?.(error);
    if (this.state === 'started' && error.message.startsWith('Maximum reconnection attempts')) {
      this.break(describeError(error));
    }
  }

  /** Goes round with the user's authorization, as often as that may be. */
  private async authorized(first: () => Promise<void>, again: () => Promise<void>): Promise<void> {
    for (let round = 0; ; round++) {
      try {
        return await (round === 0 ? first() : again());
      } catch (error) {
        if (!(error instanceof this.options.sdk.UnauthorizedError) || round === MAX_AUTHORIZATIONS) throw error;
        await this.askForCode(error);
      }
    }
  }

  private async askForCode(cause: unknown): Promise<void> {
    const { server, oauth, hold } = this.options;
    const { code } = oauth ?? {};
    if (code === undefined) throw new McpUnauthorizedError(server, 'the user has to grant it.', { cause });
    await this.inner.finishAuth(await hold(async () => code()));
  }

  /** Some servers answer with 400 to a session that they do not know. With SSE the session is in the address. */
  private isSessionLost(error: unknown): boolean {
    if ((this.options.kind === 'sse' ? this.protocolVersion : this.sessionId) === undefined) return false;
    const status = httpStatusOf(error);
    return status === 404 || (status === 400 && /session/i.test(describeError(error)));
  }

  /** Closed a moment later: whoever sent this learns first that it was not done, and what was done may be answered. */
  private sessionLost(error: unknown): McpSessionLostError {
    this.later(SETTLE_MS, () => this.break('the server has forgotten the session'));
    return new McpSessionLostError(this.options.server, error);
  }

  /** The stream of what the server says by itself. The SDK opens it again; with SSE that would be another session. */
  private streamEnded(error: unknown): void {
    if (error instanceof AnswerTooLongError) this.break(error.message);
    else if (this.options.kind === 'sse') this.break('the stream of events has ended');
    else if (error !== undefined) this.options.onDoubt();
  }

  /** The body that the answer to a request was to come in. With SSE it comes in the stream of events. */
  private answerEnded(id: number, error: unknown): void {
    const request = this.open.get(id);
    if (request === undefined || this.options.kind === 'sse') return;
    request.hasEnded = true;
    if (request.isAnswered) return void this.open.delete(id);
    if (error instanceof AnswerTooLongError) {
      this.received(tooLongAnswer(id, this.options.maxBytes));
      // It would be sent again and again.
      if (request.resumption !== undefined) this.break(error.message);
      return;
    }
    this.later(SETTLE_MS, () => {
      if (!this.open.has(id) || request.resumption !== undefined) return;
      this.received(brokenOffAnswer(id));
      if (error !== undefined) this.options.onDoubt();
    });
  }

  private resumptionRefused(lastEventId: string): void {
    const found = [...this.open].find(([, { resumption }]) => resumption === lastEventId);
    if (found !== undefined) this.received(brokenOffAnswer(found[0]));
  }

  private later(ms: number, callback: () => void): void {
    const { clock } = this.options;
    const timer = clock.setTimeout(() => {
      this.timers.delete(timer);
      callback();
    }, ms);
    this.timers.add(timer);
  }

  /** The connection is of no more use. */
  private break(reason: string): void {
    if (this.state !== 'started') return;
    this.state = 'closed';
    this.exchange.closing = true;
    this.ending = reason;
    this.onclose?.();
    void this.shut();
  }

  private async shut(): Promise<void> {
    for (const timer of this.timers) this.options.clock.clearTimeout(timer);
    this.timers.clear();
    for (const { exchange } of this.open.values()) exchange.abort(LET_GO);
    this.open.clear();
    await this.inner.close().catch(() => {});
  }

  private async inTime(work: Promise<void> | undefined): Promise<void> {
    const { clock } = this.options;
    let timer: unknown;
    const late = new Promise<void>((resolve) => {
      timer = clock.setTimeout(resolve, GOODBYE_MS);
    });
    await Promise.race([work?.catch(() => {}), late]);
    clock.clearTimeout(timer);
  }
}
