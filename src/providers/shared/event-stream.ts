import type { Answer } from './client.js';
import { ProviderError } from './error.js';
import { EventReader, type TakeEvent } from './event-reader.js';
import { toProviderError } from './failure.js';
import type { IdleWatch } from './idle.js';
import { isObject } from './wire.js';

/** The origin of a response. */
export interface EventSource {
  readonly provider: string;
  /** True for Keelson's own client, false for a client of the application. */
  readonly isOwnClient: boolean;
  /** Names of events that are skipped without parsing. */
  readonly skips?: ReadonlySet<string> | undefined;
  readonly idle: IdleWatch;
}

/** Types of events that only keep the connection open. */
const PINGS: ReadonlySet<unknown> = new Set(['ping', 'keepalive', 'keep-alive', 'heartbeat']);

/**
 * Passes the events of a streamed response to `take`, each as soon as its bytes have arrived. A response received whole
 * is one event.
 *
 * Converts errors of the client, but not errors of `take`. An error of `take` closes the connection.
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

/** Passes the events in a response body that was received as one string to `take`. */
export function readEvents(text: string, provider: string, take: TakeEvent): void {
  const reader = new EventReader({ provider }, take);
  reader.push(new TextEncoder().encode(text));
  reader.end();
}

/**
 * Returns the body of Keelson's own client. For a client of the application, returns only a body that is not an event
 * stream.
 *
 * A client of the application reads its event streams itself. Instrumentation may observe these streams, and Bedrock
 * has another format.
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

/** Yields the chunks of a body. Needed because streams of Safari are not async iterables. */
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

/** Passes each item to `take`. Stores an error of `take` separately, so that it is not converted. */
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
