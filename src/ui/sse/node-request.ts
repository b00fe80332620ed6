/** The members of `http.IncomingMessage` that `toNodeListener` uses. Express requests have them too. */
export interface ServerRequestLike extends AsyncIterable<Uint8Array> {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  /** The path before a router of Express removed its prefix. */
  readonly originalUrl?: string | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body that a parser of Express has read. */
  readonly body?: unknown;
  /** True if something has been read from the stream. */
  readonly readableDidRead?: boolean | undefined;
  readonly socket?: object | undefined;
}

/** A request of Node, with the parsed body and the whole path of its framework. */
export interface Incoming {
  readonly stream: ServerRequestLike;
  readonly url: string | undefined;
  readonly body: unknown;
}

/**
 * Returns the web request of a request of Node. If the body was read and no parser has left it, the request has a used body.
 * Returns undefined if the URL, the method or a header is invalid.
 */
export async function toRequest(incoming: Incoming, signal: AbortSignal): Promise<Request | undefined> {
  const { stream } = incoming;
  const { method = 'GET', headers } = stream;
  const scheme = stream.socket && 'encrypted' in stream.socket ? 'https' : 'http';
  // HTTP/2 has no `Host` header.
  const host = headers.host ?? headers[':authority'] ?? 'localhost';
  const body = method === 'GET' || method === 'HEAD' ? undefined : bodyOf(incoming);
  try {
    const url = new URL(incoming.url ?? stream.url ?? '/', `${scheme}://${host}`);
    // Node requires `duplex` for a streamed body.
    const init = { method, headers: toHeaders(headers), signal, body: body ?? null, duplex: 'half' as const };
    const request = new Request(url, init);
    if (body === USED) await request.text();
    return request;
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

/** The body of a request whose body was read, and left nowhere. */
const USED = '';

function bodyOf({ stream, body }: Incoming): ReadableStream<Uint8Array> | Uint8Array | string {
  // A parser that has no use for a body may set an empty one, and leaves the stream unread.
  if (stream.readableDidRead !== true) return streamOf(stream);
  if (body === undefined) return USED;
  return typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
}

function streamOf(request: ServerRequestLike): ReadableStream<Uint8Array> {
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
