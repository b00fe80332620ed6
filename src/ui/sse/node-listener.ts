import { pipeResponse, type ServerResponseLike } from './pipe.js';

/** The members of `http.IncomingMessage` that `toNodeListener` uses. Express requests have them too. */
export interface ServerRequestLike extends AsyncIterable<Uint8Array> {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  /** The path before a router of Express removed its prefix. */
  readonly originalUrl?: string | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** The members of `http.ServerResponse` that `toNodeListener` uses. */
export interface ListenerResponse extends ServerResponseLike {
  readonly writableFinished?: boolean | undefined;
}

/**
 * Returns a listener for `node:http` and Express that answers with a web handler. Aborts the signal of the request if the
 * client disconnects. The body must not have been read before, so mount the listener before `express.json()`.
 *
 * @example
 * import { createServer } from 'node:http';
 *
 * const handler = createAgentHandler(agent, { authorize: 'none', session: (chatId) => chatId });
 * createServer(toNodeListener(handler)).listen(3000);
 */
export function toNodeListener(
  handler: (request: Request) => Response | Promise<Response>,
): (request: ServerRequestLike, response: ListenerResponse) => Promise<void> {
  return async (request, response) => {
    const disconnected = new AbortController();
    const abort = () => {
      if (response.writableFinished !== true) disconnected.abort();
    };
    response.once('close', abort);
    try {
      await pipeResponse(await answer(handler, toRequest(request, disconnected.signal)), response);
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

/** Returns undefined if the URL, the method or a header is invalid. */
function toRequest(request: ServerRequestLike, signal: AbortSignal): Request | undefined {
  const { method = 'GET', url = '/', originalUrl = url, headers } = request;
  const hasBody = method !== 'GET' && method !== 'HEAD';
  try {
    return new Request(new URL(originalUrl, `http://${headers.host}`), {
      method,
      headers: toHeaders(headers),
      signal,
      // Node requires `duplex` for a streamed body.
      ...(hasBody && ({ body: bodyOf(request), duplex: 'half' } as object)),
    });
  } catch {
    return undefined;
  }
}

function toHeaders(headers: ServerRequestLike['headers']): Headers {
  const all = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    // HTTP/2 lists the method and the path as headers, too.
    if (value === undefined || name.startsWith(':')) continue;
    for (const one of typeof value === 'string' ? [value] : value) all.append(name, one);
  }
  return all;
}

function bodyOf(request: ServerRequestLike): ReadableStream<Uint8Array> {
  const chunks = request[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    },
    { highWaterMark: 0 },
  );
}
