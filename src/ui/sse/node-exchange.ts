import type { Incoming, ServerRequestLike } from './node-request.js';
import type { ServerResponseLike } from './pipe.js';

/** The members of `http.ServerResponse` that `toNodeListener` uses. */
export interface ListenerResponse extends ServerResponseLike {
  readonly writableFinished?: boolean | undefined;
}

/** The members of a Fastify request that `toNodeListener` uses. */
export interface FastifyRequestLike {
  readonly raw: ServerRequestLike;
  /** The body that Fastify has parsed. */
  readonly body?: unknown;
  readonly originalUrl?: string | undefined;
}

/** The members of a Fastify reply that `toNodeListener` uses. */
export interface FastifyReplyLike {
  readonly raw: FastifyResponseLike;
  /** Tells Fastify that other code sends the reply. */
  hijack(): unknown;
  /** Returns the headers that plugins have set. */
  getHeaders(): Readonly<Record<string, number | string | string[] | undefined>>;
}

/** The members of the Node response of a Fastify reply that `toNodeListener` uses. */
interface FastifyResponseLike extends ListenerResponse {
  /** Sets a header, which is sent with the other headers. */
  setHeader(name: string, value: number | string | readonly string[]): unknown;
}

/** The members of a Koa context that `toNodeListener` uses. A body parser sets `request.body`. */
export interface KoaContextLike {
  readonly req: ServerRequestLike;
  readonly res: ListenerResponse;
  readonly request: object;
  readonly originalUrl?: string | undefined;
  /** False if other code sends the response instead of Koa. */
  respond?: boolean | undefined;
}

interface Exchange {
  readonly incoming: Incoming;
  readonly response: ListenerResponse;
}

/**
 * Returns Node's request and response from the arguments that a framework passes. Tells Fastify and Koa not to send a
 * response themselves.
 */
export function exchangeOf(first: object, second: object | undefined): Exchange {
  if ('raw' in first) return exchangeOfFastify(first as FastifyRequestLike, second as FastifyReplyLike);
  if ('req' in first && 'res' in first) return exchangeOfKoa(first as KoaContextLike);
  const stream = first as ServerRequestLike;
  const { originalUrl, body } = stream;
  return { incoming: { stream, url: originalUrl, body }, response: second as ListenerResponse };
}

function exchangeOfFastify({ raw: stream, originalUrl, body }: FastifyRequestLike, reply: FastifyReplyLike): Exchange {
  reply.hijack();
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
  return { incoming: { stream, url: originalUrl, body }, response: reply.raw };
}

function exchangeOfKoa(context: KoaContextLike): Exchange {
  context.respond = false;
  const { req: stream, res: response, request, originalUrl } = context;
  const { body } = request as { readonly body?: unknown };
  return { incoming: { stream, url: originalUrl, body }, response };
}
