import { KeelsonError } from '../../errors.js';
import type { Clock } from '../../internal/clock.js';
import { isObject, toJson } from '../../internal/json.js';
import { Stop } from '../../internal/stop.js';
import { McpRequestError, McpSessionLostError, McpUnavailableError } from '../error.js';
import { describeWithCause } from '../server-log.js';
import { Authorization, type AuthorizationOptions, challengeOf } from './authorization.js';
import { readText, release } from './http-response.js';
import { type JsonRpcMessage, readMessages } from './json-rpc.js';
import { deliver, isStateless, type McpTransport } from './transport.js';

export interface HttpOptions extends Omit<AuthorizationOptions, 'oauth' | 'fetch'> {
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
  readonly maxBytes: number;
  readonly oauth: AuthorizationOptions['oauth'] | undefined;
  readonly clock: Clock;
}

/** One HTTP request. The client adds the headers of its connection. */
interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Default: the URL of the server. */
  readonly url?: URL | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string;
  readonly signal: AbortSignal;
}

const CONTENT = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const STREAM = { accept: 'text/event-stream' };
/** The key in `_meta` of a request that names its revision. Requests before 2026-07-28 do not have it. */
const REVISION = 'io.modelcontextprotocol/protocolVersion';
/** The name of the request parameter that the header `Mcp-Name` repeats, by method. */
const NAMED_BY: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ...['tasks/get', 'tasks/update', 'tasks/cancel'].map((method) => [method, 'taskId'] as const),
]);
const NO_MESSAGE = 'It sent data that is not a message of the protocol.';
const MAX_AUTHORIZATIONS = 3;
const MAX_REDIRECTS = 5;
/** Milliseconds that pending requests may still take after the server has lost the session. */
const SETTLE_MS = 500;

/** A server answered a request with a status code that is not a success. */
export class HttpStatusError extends KeelsonError {
  readonly code = 'ERR_MCP_HTTP_STATUS';

  constructor(
    readonly status: number,
    /** The body of the response, or the target of a redirect that was not followed. */
    readonly detail: string,
  ) {
    super(`HTTP ${status}: ${detail}`);
  }
}

export class HttpUnreachableError extends KeelsonError {
  readonly code = 'ERR_MCP_HTTP_UNREACHABLE';
}

/** Sends the HTTP requests of one connection until it ends. Adds its headers, its session id and its authorization. */
export class HttpClient {
  sessionId: string | undefined = undefined;
  protocolVersion: string | undefined = undefined;
  ending: string | undefined = undefined;
  readonly closing = new Stop();
  private readonly authorization: Authorization | undefined;

  constructor(
    private readonly options: HttpOptions,
    private readonly transport: Pick<McpTransport, 'onclose' | 'onerror' | 'onmessage'>,
  ) {
    const { oauth } = options;
    this.authorization = oauth && new Authorization({ ...options, oauth, fetch: (url, init) => this.visit(url, init) });
  }

  /** Resolves to the response, whatever its status code. Authorizes once for each challenge, at most three times. */
  async request(request: HttpRequest): Promise<Response> {
    const challenges = new Set<string>();
    for (;;) {
      const { round = 0 } = this.authorization ?? {};
      const headers: Record<string, string> = { ...(await this.authorization?.headers()) };
      if (this.sessionId !== undefined) headers['mcp-session-id'] = this.sessionId;
      if (this.protocolVersion !== undefined) headers['mcp-protocol-version'] = this.protocolVersion;
      const response = await this.follow(request, { ...headers, ...this.options.headers, ...request.headers });
      const challenge = this.authorization && request.method !== 'DELETE' ? challengeOf(response) : undefined;
      if (challenge === undefined || challenges.has(challenge) || challenges.size === MAX_AUTHORIZATIONS) {
        return response;
      }
      challenges.add(challenge);
      release(response);
      await this.authorization?.renew(response, round);
    }
  }

  /** Sends a message. Rejects if the server refuses it. Closes the connection if the server no longer knows the session. */
  async post(
    message: JsonRpcMessage,
    { url, signal, headers: more }: Pick<HttpRequest, 'url' | 'signal' | 'headers'>,
  ): Promise<Response> {
    const stateless = statelessHeaders(message);
    const headers = { ...more, ...stateless, ...CONTENT };
    try {
      const response = await this.request({ method: 'POST', url, headers, body: toJson(message), signal });
      if (stateless === undefined) this.sessionId = response.headers.get('mcp-session-id') ?? this.sessionId;
      if (response.ok) return response;
      const error = await this.refusal(response);
      if (error instanceof McpSessionLostError) {
        // Closes the connection later: this request rejects first, and other requests may still get a response.
        this.options.clock.setTimeout(() => this.end('the server no longer knows the session'), SETTLE_MS);
      }
      throw error;
    } catch (error) {
      if (error instanceof HttpUnreachableError) this.end(error.message);
      throw error;
    }
  }

  /** The response may be something other than a stream. */
  openStream(signal: AbortSignal, eventId?: string): Promise<Response> {
    const headers = eventId === undefined ? STREAM : { ...STREAM, 'last-event-id': eventId };
    return this.request({ method: 'GET', headers, signal });
  }

  async refusal(response: Response): Promise<KeelsonError> {
    const { server, maxBytes } = this.options;
    const { status, ok, headers } = response;
    const location = status >= 300 && status < 400 ? headers.get('location') : null;
    if (ok) {
      release(response);
      const problem = `unexpected content type: ${headers.get('content-type')}`;
      return new McpRequestError(server, `The MCP server "${server}" gave no usable response: ${problem}`, { status });
    }
    const text = await readText(response, maxBytes).catch(() => '');
    const detail = location === null ? text : `Redirect to ${location} not followed`;
    const error = new HttpStatusError(status, detail);
    // Some servers answer with status 400 if they do not know the session.
    const isLost = status === 404 || (status === 400 && /session/i.test(detail));
    return isLost && this.isEstablished ? new McpSessionLostError(server, error) : error;
  }

  /**
   * Calls `work` with a signal of its own, which fires when the connection ends. A request of Cloudflare Workers must not
   * even read a signal of another request.
   */
  async whileOpen<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.closing.stopped) throw new McpUnavailableError(this.options.server, this.ending ?? 'it was closed');
    const stop = new Stop();
    stop.followStop(this.closing);
    try {
      return await work(stop.signal);
    } finally {
      stop.release();
    }
  }

  /** Reports anything that is not a message. */
  receive(text: string, onMessage: (message: JsonRpcMessage) => void = (message) => this.deliver(message)): void {
    for (const message of readMessages(text)) {
      if (message !== undefined) onMessage(message);
      else this.transport.onerror?.(new McpRequestError(this.options.server, NO_MESSAGE));
    }
  }

  deliver(message: JsonRpcMessage): void {
    if (!this.closing.stopped) deliver(message, this.transport);
  }

  /** Ends the connection. Pending requests fail at once. Returns false if it had ended before. */
  end(reason: string | undefined): boolean {
    if (this.closing.stopped) return false;
    this.ending = reason;
    this.closing.stop(undefined);
    this.transport.onclose?.();
    return true;
  }

  /**
   * True if a session exists. SSE has no session id, since its URL contains the session. Over SSE, a session exists if
   * the protocol version is known.
   */
  private get isEstablished(): boolean {
    return this.sessionId !== undefined || (this.protocolVersion !== undefined && !isStateless(this.protocolVersion));
  }

  /** Follows redirects that keep the origin and the method. Returns any other redirect as the response. */
  private async follow(request: HttpRequest, headers: Readonly<Record<string, string>>): Promise<Response> {
    const { url: own } = this.options;
    const { method, body, signal } = request;
    let url = request.url ?? own;
    for (let redirects = 0; ; redirects++) {
      const init = { method, headers, signal, redirect: 'manual', body: body ?? null } as const;
      let response: Response;
      try {
        response = await this.options.fetch(url, init);
      } catch (error) {
        if (signal.aborted || isHeadTimeout(error)) throw error;
        throw new HttpUnreachableError(describeWithCause(error), { cause: error });
      }
      const keepsMethod = method === 'GET' ? [301, 302, 303, 307, 308] : [307, 308];
      const location = keepsMethod.includes(response.status) ? response.headers.get('location') : null;
      const target = location !== null && URL.canParse(location, url.href) ? new URL(location, url) : undefined;
      if (target?.origin !== own.origin || redirects === MAX_REDIRECTS) return response;
      release(response);
      url = target;
    }
  }

  /** Sends a request of the OAuth authorization. Only the MCP server's own origin receives the configured headers. */
  private async visit(address: string | URL, init: RequestInit = {}): Promise<Response> {
    const { url, headers, fetch, maxBytes } = this.options;
    const configured = new URL(address).origin === url.origin ? headers : {};
    const sent = new Headers(configured);
    new Headers(init.headers).forEach((value, name) => void sent.set(name, value));
    const response = await fetch(address, { ...init, headers: sent });
    const text = await readText(response, maxBytes);
    const { status, statusText } = response;
    return new Response(text === '' ? null : text, { status, statusText, headers: response.headers });
  }
}

/**
 * Returns the headers that repeat parts of a request, as revision 2026-07-28 requires. Undefined for every other
 * message.
 */
export function statelessHeaders(message: JsonRpcMessage): Readonly<Record<string, string>> | undefined {
  const { method, params = {} } = 'method' in message ? message : { method: '' };
  const revision = isObject(params._meta) ? params._meta[REVISION] : undefined;
  if (typeof revision !== 'string') return undefined;
  const name = params[NAMED_BY.get(method) ?? ''];
  const own = { 'mcp-protocol-version': revision, 'mcp-method': method };
  return typeof name === 'string' ? { ...own, 'mcp-name': headerValue(name) } : own;
}

/** Encodes a string that cannot be the value of a header, or that looks encoded. */
function headerValue(text: string): string {
  const isPlain = /^[!-~](?:[\t -~]*[!-~])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

/** Returns true if Node's `fetch` stopped waiting for the response headers. The server is reachable but slow. */
function isHeadTimeout(error: unknown): boolean {
  const { cause } = (error ?? {}) as { cause?: { code?: unknown } };
  return cause?.code === 'UND_ERR_HEADERS_TIMEOUT';
}
