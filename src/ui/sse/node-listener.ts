import {
  exchangeOf,
  type FastifyReplyLike,
  type FastifyRequestLike,
  type KoaContextLike,
  type ListenerResponse,
} from './node-exchange.js';
import { type ServerRequestLike, toRequest } from './node-request.js';
import { pipeResponse } from './pipe.js';

/**
 * A function that is a listener for `node:http`, Express and Nest, a route handler of Fastify, and a middleware of Koa.
 */
export interface NodeListener {
  (request: ServerRequestLike, response: ListenerResponse): Promise<void>;
  (request: FastifyRequestLike, reply: FastifyReplyLike): Promise<void>;
  (context: KoaContextLike): Promise<void>;
}

/**
 * Converts a handler of web requests to a listener for `node:http`, Express, Nest, Fastify and Koa. If the client
 * disconnects, the signal of the request aborts. If a parser has already read the body, uses `request.body`.
 *
 * @example
 * import { createServer } from 'node:http';
 *
 * const handler = createAgentHandler(agent, { authorize: 'none', session: (chatId) => chatId });
 * createServer(toNodeListener(handler)).listen(3000);
 */
export function toNodeListener(handler: (request: Request) => Response | Promise<Response>): NodeListener {
  return async (first: object, second?: object) => {
    const { incoming, response } = exchangeOf(first, second);
    const disconnected = new AbortController();
    const abort = () => {
      if (response.writableFinished !== true) disconnected.abort();
    };
    response.once('close', abort);
    try {
      const request = await toRequest(incoming, disconnected.signal);
      await pipeResponse(await answer(handler, request), response);
    } finally {
      response.off('close', abort);
    }
  };
}

async function answer(handler: (request: Request) => Response | Promise<Response>, request: Request | undefined) {
  try {
    return request === undefined ? new Response(null, { status: 400 }) : await handler(request);
  } catch {
    return new Response(null, { status: 500 });
  }
}
