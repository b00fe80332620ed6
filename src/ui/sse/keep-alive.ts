import { type Clock, withinMs } from '../../internal/clock.js';

const COMMENT = new TextEncoder().encode(': keep-alive\n\n');

/**
 * Adds a comment to server-sent events after `ms` milliseconds of silence, because proxies close a silent connection.
 */
export function keepAlive(events: ReadableStream<Uint8Array>, ms: number, clock: Clock): ReadableStream<Uint8Array> {
  const reader = events.getReader();
  let reading: ReturnType<typeof reader.read> | undefined;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        reading ??= reader.read();
        const next = await withinMs(reading, ms, clock);
        if (next === undefined) return controller.enqueue(COMMENT);
        reading = undefined;
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
