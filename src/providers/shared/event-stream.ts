import type { Answer } from './client.js';
import { ProviderError } from './error.js';
import { EventReader, type TakeEvent } from './event-reader.js';
import { toProviderError } from './failure.js';
import type { IdleWatch } from './idle.js';
import { isObject } from './wire.js';

/** Facts about the response whose events are read. */
export interface EventSource {
  readonly provider: string;
  /** True if Keelson's own client sent the request, false for a client of the application. */
  readonly isOwnClient: boolean;
  /** The names of events that are skipped without parsing their data. */
  readonly skips?: ReadonlySet<string> | undefined;
  readonly idle: IdleWatch;
}

/** The types of events that only keep the connection open. */
const PINGS: ReadonlySet<unknown> = new Set(['ping', 'keepalive', 'keep-alive', 'heartbeat']);

/**
 * Passes each event of a streamed response to `take` as soon as its bytes have arrived. A response that is received
 * whole counts as one event.
 *
 * Errors of the connection become typed errors. Errors of `take` are not converted, and they close the connection.
 */
export async function receiveEvents(answer: Answer, source: EventSource, take: TakeEvent): Promise<void> {
  const { data } = answer;
  const body = bodyOf(answer, source.isOwnClient);
  const hear = (event: unknown) => {
    // Only an event with a type shows that the provider still works on the response.
    const type = isObject(event) ? event.type : undefined;
    if (type !== undefined && !PINGS.has(type)) source.idle.hearMore();
    take(event);
  };
  if (body === undefined) return isAsyncIterable(data) ? drain(data, source.provider, hear) : take(data);
  const reader = new EventReader(source, hear);
  await drain(body, source.provider, (bytes) => reader.push(bytes as Uint8Array));
  reader.end();
}

/** Splits a body that was received as one string into events, and passes them to `take`. */
export function readEvents(text: string, provider: string, take: TakeEvent): void {
  const reader = new EventReader({ provider }, take);
  reader.push(new TextEncoder().encode(text));
  reader.end();
}

/**
 * Returns the response body if this module must read it.
 *
 * A client of the application reads event streams itself, because instrumentation may observe them there, and because
 * Bedrock has another format. So for such a client, only a body that is not an event stream is returned.
 */
function bodyOf({ response }: Answer, isOwnClient: boolean): AsyncIterable<unknown> | readonly unknown[] | undefined {
  if (isOwnClient && response?.body === null) return [];
  const chunks = chunksOf(response?.body);
  if (!response || chunks === undefined) return undefined;
  const type = response.headers.get('content-type') ?? '';
  const isStream = /^(?:text\/event-stream|application\/vnd\.amazon\.eventstream)\b/i.test(type);
  return isOwnClient || !isStream ? chunks : undefined;
}

function chunksOf(body: unknown): AsyncIterable<unknown> | undefined {
  if (isAsyncIterable(body)) return body;
  return body instanceof ReadableStream ? readChunks(body) : undefined;
}

/** Yields the chunks of a body. Needed for Safari, whose streams are not async iterables. */
async function* readChunks(body: ReadableStream<unknown>): AsyncIterable<unknown> {
  const reader = body.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    await reader.cancel();
  }
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/** Passes each item to `take`. Errors of the items become typed errors; errors of `take` stay as they are. */
async function drain(
  items: AsyncIterable<unknown> | readonly unknown[],
  provider: string,
  take: (item: unknown) => void,
): Promise<void> {
  let taking = false;
  try {
    for await (const item of items) {
      taking = true;
      take(item);
      taking = false;
    }
  } catch (error) {
    throw taking || error instanceof ProviderError ? error : toProviderError(provider, error);
  }
}
