import { describeError } from '../../errors.js';
import type { Clock } from '../../internal/clock.js';
import { McpUnauthorizedError } from '../error.js';
import { AnswerTooLongError } from './json-rpc.js';
import { limitBody } from './limit-body.js';
import { untilAborted } from './request-time.js';

/** What is to be known of the requests of one connection. */
export interface HttpExchangeOptions {
  readonly server: string;
  readonly kind: 'http' | 'sse';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
  readonly maxBytes: number;
  readonly clock: Clock;
  /** How to authorize, where there is a way. */
  readonly oauth: unknown;
  /** What ends the exchange of a request; default: the SDK's own. */
  readonly signalOf: (id: number) => AbortSignal | undefined;
  readonly onUnreachable: (error: unknown) => void;
  /** The body of an answer came to its end. `id` is that of the request; there is none for a stream of its own. */
  readonly onBodyEnd: (id: number | undefined, error: unknown) => void;
  /** The server goes on with no stream after this event, which the SDK passes over in silence. */
  readonly onNoStream: (lastEventId: string) => void;
}

const MAX_REFUSALS = 3;
/** Streams that are opened in a row, and in how long, whatever pause the server wishes for. */
const MAX_STREAMS = 10;
const STREAMS_MS = 10_000;

/** The HTTP requests of one connection: its own, and those of its authorization. */
export class HttpExchange {
  /** Whether what fails now fails because the connection is closed. */
  closing = false;
  /** The events after which the SDK would go on with a stream that nobody waits for. */
  readonly unwanted: string[] = [];
  /** When the last streams were opened, or will be. */
  private readonly streamTimes: number[] = [];
  readonly fetch: typeof fetch;
  /** Refusals in a row, by method. */
  private readonly refusals = new Map<string, number>();

  constructor(private readonly options: HttpExchangeOptions) {
    this.fetch = (input, init) => {
      const url = new URL(input instanceof Request ? input.url : input);
      return url.origin === options.url.origin ? this.own(url, init) : this.foreign(url, init);
    };
  }

  private async own(url: URL, init: RequestInit | undefined): Promise<Response> {
    const { kind, maxBytes, onBodyEnd, onNoStream, signalOf } = this.options;
    const isOfEvents = isStream(init);
    const lastEventId = new Headers(init?.headers).get('last-event-id') ?? '';
    if (isOfEvents) {
      const at = this.unwanted.indexOf(lastEventId);
      if (at >= 0 && this.unwanted.splice(at, 1)) return noStream();
      await this.pause(init?.signal);
    }
    const id = requestIdOf(init);
    const signal = (id === undefined ? undefined : signalOf(id)) ?? init?.signal;
    const reached = await this.reach(url, { ...init, ...(signal && { signal }) });
    const response = isOfEvents && kind === 'http' ? streamOrNone(reached) : reached;
    this.countRefusals(url, init?.method ?? 'GET', response);
    if (isOfEvents && response.status === 405) onNoStream(lastEventId);
    const onEnd = (error?: unknown) => {
      if (!this.closing && response.ok && (id !== undefined || isOfEvents)) onBodyEnd(id, error);
    };
    return limitBody(response, { maxBytes, onEnd, tooLong: () => new AnswerTooLongError(maxBytes) });
  }

  private async reach(url: URL, init: RequestInit): Promise<Response> {
    const { fetch, kind, onBodyEnd, onUnreachable } = this.options;
    try {
      return await fetch(url, init);
    } catch (error) {
      if (this.closing || init.signal?.aborted) throw error;
      // A server need not have a stream of its own, and may refuse it in any way.
      if (kind === 'http' && isStream(init)) onBodyEnd(undefined, error);
      else if (!isHeadTimeout(error)) onUnreachable(error);
      throw error;
    }
  }

  private async pause(signal: AbortSignal | null | undefined): Promise<void> {
    const { clock } = this.options;
    const now = clock.now();
    const oldest = this.streamTimes.length < MAX_STREAMS ? undefined : this.streamTimes.shift();
    // A clock that was set back keeps nobody waiting for longer.
    const left = oldest === undefined ? 0 : Math.min(oldest + STREAMS_MS - now, STREAMS_MS);
    this.streamTimes.push(now + Math.max(0, left));
    if (left <= 0) return;
    let timer: unknown;
    const over = new Promise<void>((resolve) => {
      timer = clock.setTimeout(resolve, left);
    });
    await (signal ? untilAborted(signal, over) : over).finally(() => clock.clearTimeout(timer));
  }

  /** A server of somebody else's, such as one that authorizes: what is configured for this one is not shown to it. */
  private async foreign(url: URL, init: RequestInit | undefined): Promise<Response> {
    const { fetch, headers, maxBytes } = this.options;
    const sent = new Headers(init?.headers);
    for (const [name, value] of Object.entries(headers)) if (sent.get(name) === value.trim()) sent.delete(name);
    const response = await fetch(url, { ...init, headers: sent });
    return limitBody(response, { maxBytes, onEnd: () => {}, tooLong: () => new AnswerTooLongError(maxBytes) });
  }

  private countRefusals(url: URL, method: string, response: Response): void {
    const { status, ok } = response;
    if (this.options.oauth === undefined || url.pathname !== this.options.url.pathname) return;
    if (ok) this.refusals.delete(method);
    if (!wantsAuthorization(response)) return;
    const count = (this.refusals.get(method) ?? 0) + 1;
    this.refusals.set(method, count);
    if (count <= MAX_REFUSALS) return;
    throw new McpUnauthorizedError(this.options.server, `it refused ${MAX_REFUSALS} authorizations (HTTP ${status}).`);
  }
}

/** Whether the SDK would ask for another authorization. Any other refusal has a reason of its own, which is to be told. */
function wantsAuthorization({ status, headers }: Response): boolean {
  return status === 401 || (status === 403 && /insufficient_scope/.test(headers.get('www-authenticate') ?? ''));
}

/** The id of the request in a body that the SDK has written; undefined for anything else, such as an answer of ours. */
function requestIdOf(init: RequestInit | undefined): number | undefined {
  const { body } = init ?? {};
  if (typeof body !== 'string' || !body.startsWith('{"method":')) return undefined;
  const found = /"id":(\d+)\}$/.exec(body);
  return found === null ? undefined : Number(found[1]);
}

function isStream(init: RequestInit | undefined): boolean {
  return (init?.method ?? 'GET') === 'GET' && /event-stream/.test(new Headers(init?.headers).get('accept') ?? '');
}

/** The time is up within which Node's `fetch` wants the head of an answer: a slow call, of a server that is there. */
function isHeadTimeout(error: unknown): boolean {
  const { cause } = (error ?? {}) as { cause?: { code?: unknown } };
  return cause?.code === 'UND_ERR_HEADERS_TIMEOUT';
}

/** A page, or a word that all is well, in the place of a stream: the SDK would read it as one, and ask again every second. */
function streamOrNone(response: Response): Response {
  if (!response.ok || response.headers.get('content-type')?.includes('text/event-stream')) return response;
  response.body?.cancel().catch(() => {});
  return noStream();
}

/** As one answers who has no stream: the SDK takes that for the end of it. */
function noStream(): Response {
  return new Response(null, { status: 405 });
}

/** The status in an error of the SDK: in its code or, from its transport for SSE, in its words. */
export function httpStatusOf(error: unknown): number | undefined {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  // The SDK's own for an answer of a kind that it does not know.
  if (code === -1 && error instanceof Error && error.name !== 'McpError') return undefined;
  if (typeof code === 'number') return code;
  const found = /^Error POSTing to endpoint \(HTTP (\d{3})\)/.exec(String(message));
  return found === null ? undefined : Number(found[1]);
}

/** What a failed `fetch` says, with what is behind it. */
export function describeNetworkError(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined ? describeError(error) : `${describeError(error)} (${describeError(cause)})`;
}
