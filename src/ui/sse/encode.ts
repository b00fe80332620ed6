import type { RunStream } from '../../agent/run-stream.js';
import { toJson } from '../../internal/json.js';
import { type Conversion, EventQueue } from './event-queue.js';

const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  // Without this header, proxies such as nginx would buffer the events.
  'x-accel-buffering': 'no',
} as const;

/** Encodes items as server-sent events. */
export interface EventWriter<Item> {
  /** Returns the server-sent event of an item. */
  readonly encode: (item: Item) => string;
  /** A string to send after the last item. */
  readonly end?: string;
}

/**
 * Returns a response with server-sent events. `headers` are added to the usual headers for events, and may replace
 * them.
 */
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
  return `data: ${toJson(data)}\n\n`;
}

/**
 * Returns the events of a run as UTF-8. Joins all waiting events into one chunk. Cancelling the stream aborts the run.
 */
export function eventBytes<Item extends { readonly type: string }>(
  stream: RunStream<unknown>,
  conversion: Conversion<Item>,
  { encode, end = '' }: EventWriter<Item>,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const queue = new EventQueue(stream, conversion);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const items = await queue.take();
        let text = items === undefined ? end : '';
        for (const item of items ?? []) text += encode(item);
        if (text !== '') controller.enqueue(encoder.encode(text));
        if (items === undefined) controller.close();
      },
      cancel: () => queue.cancel(),
    },
    { highWaterMark: 0 },
  );
}
