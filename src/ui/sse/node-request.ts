/** The members of `http.IncomingMessage` that `toNodeListener` uses. Express requests have them too. */
export interface ServerRequestLike extends AsyncIterable<Uint8Array> {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  /** The path of the request before an Express router removed its prefix. */
  readonly originalUrl?: string | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body that a parser of Express has read. */
  readonly body?: unknown;
  /** True if other code has read a part of the stream. */
  readonly readableDidRead?: boolean | undefined;
  readonly socket?: object | undefined;
}

/** A request of Node, with the parsed body and the full path that its framework has stored. */
export interface Incoming {
  readonly stream: ServerRequestLike;
  readonly url: string | undefined;
  readonly body: unknown;
}

/**
 * Converts a request of Node to a web request. If other code has read the body without storing it, the body of the web
 * request is already used, so that the handler can report this.
 *
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
    // HTTP/2 also lists the method and the path as headers.
    if (value === undefined || name.startsWith(':')) continue;
    for (const one of typeof value === 'string' ? [value] : value) all.append(name, one);
  }
  return all;
}

/** Stands for a body that other code has read without storing it. */
const USED = '';

function bodyOf({ stream, body }: Incoming): ReadableStream<Uint8Array> | Uint8Array | string {
  // A parser may set an empty body for a content type that it does not parse. Then the stream is unread.
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
      // Node reads the next request of a connection only after the whole body of this one.
      cancel: () => discard(chunks),
    },
    { highWaterMark: 0 },
  );
}

/** Reads the rest of a body. Ends early if the client disconnects. */
async function discard(chunks: AsyncIterator<Uint8Array>): Promise<void> {
  try {
    while (!(await chunks.next()).done);
  } catch {}
}
