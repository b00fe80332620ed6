const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  // Proxies such as nginx would otherwise collect the events.
  'x-accel-buffering': 'no',
} as const;

/** Returns a response with server-sent events. `headers` are added to the headers of such a response. */
export function eventStreamResponse(
  body: ReadableStream<Uint8Array>,
  headers: Readonly<Record<string, string>> | undefined,
): Response {
  const all = new Headers(SSE_HEADERS);
  for (const [name, value] of new Headers(headers)) all.set(name, value);
  return new Response(body, { headers: all });
}

/** Returns a server-sent event with JSON data. JSON contains no line breaks, so one `data:` line is enough. */
export function dataEvent(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** Encodes each item of a stream as UTF-8, and appends `end`. */
export function encodeStream<Item>(
  items: ReadableStream<Item>,
  encode: (item: Item) => string,
  end = '',
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const reader = items.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(encoder.encode(encode(value)));
        if (end !== '') controller.enqueue(encoder.encode(end));
        controller.close();
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
