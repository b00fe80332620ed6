import type { Answer } from './client.js';
import { ProviderError } from './error.js';
import { toProviderError } from './failure.js';
import { isObject, parseJson, type WireObject } from './wire.js';

type ServerData = WireObject | readonly unknown[];

/** The value that {@link readEvents} yields for `[DONE]`. */
export const DONE: WireObject = Object.freeze({});

/** Matches a field name of a server-sent event, or a comment, with the colon and the space after it. */
const FIELD = /^(data|error|event|id|retry|): ?/;

/**
 * Yields the events of a streamed response; a response received whole is one event.
 * Converts only errors of the client, not errors of the code that consumes the events.
 */
export async function* eventsOf(answer: Answer, provider: string, isOwnClient: boolean): AsyncIterable<unknown> {
  const { data } = answer;
  try {
    yield* bodyEvents(answer, provider, isOwnClient) ?? (isAsyncIterable(data) ? data : [data]);
  } catch (error) {
    throw toProviderError(provider, error);
  }
}

/**
 * Reads the body of Keelson's own client itself. With the user's client, reads only a body that is not an event stream:
 * instrumentation may observe the client's streams, and Bedrock has its own stream format.
 */
function bodyEvents({ response }: Answer, provider: string, isOwnClient: boolean): AsyncIterable<unknown> | undefined {
  if (isOwnClient && response?.body === null) return readEvents(bytesOf(''), provider);
  if (!response || !isAsyncIterable(response.body)) return undefined;
  const type = response.headers.get('content-type') ?? '';
  const isStream = /^(?:text\/event-stream|application\/vnd\.amazon\.eventstream)\b/i.test(type);
  return isOwnClient || !isStream ? readEvents(response.body, provider) : undefined;
}

/** Yields a string as one chunk of bytes. */
export async function* bytesOf(text: string): AsyncIterable<Uint8Array> {
  yield new TextEncoder().encode(text);
}

function isAsyncIterable(value: unknown): value is AsyncIterable<Uint8Array> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/**
 * Yields the parsed JSON of each event. A body that is not an event stream is yielded as one string.
 * Accepts deviations from the standard: an event of a single line, a last event without an empty line, an `error`
 * field, and keep-alive messages that are not JSON.
 * Reads on after `[DONE]`, so that the connection can be reused, but yields nothing more.
 */
export async function* readEvents(
  body: AsyncIterable<Uint8Array>,
  provider: string,
): AsyncIterable<ServerData | string> {
  const event = new ServerEvent(provider);
  let text = '';
  let isStream = false;
  for await (const line of linesOf(body)) {
    const field = FIELD.exec(line);
    if (field && !isStream) yield* dataIn(text);
    isStream ||= field !== null;
    if (field) yield* event.take(field[1] ?? '', line.slice(field[0].length));
    else if (line === '') yield* event.end();
    if (!isStream) text += `${line}\n`;
  }
  if (isStream) yield* event.end();
  else yield text;
}

/**
 * Yields a complete JSON object that precedes the first event field. Some servers send `[DONE]` after a complete
 * response.
 */
function* dataIn(text: string): Iterable<ServerData> {
  const value = parseJson(text);
  if (isObject(value)) yield value;
}

/** Assembles events from their lines. */
class ServerEvent {
  private name = '';
  private data: string[] = [];
  private isDone = false;

  constructor(private readonly provider: string) {}

  /** Yields an event at once if a single line holds all of its JSON. */
  *take(field: string, value: string): Iterable<ServerData> {
    if (field === 'event') this.name = value.trim();
    if (field === 'error') this.name = field;
    if ((field !== 'data' && field !== 'error') || this.isDone) return;
    const whole = this.data.length === 0 ? parseJson(value) : undefined;
    if (whole === undefined) this.data.push(value);
    else yield* this.named(whole);
  }

  *end(): Iterable<ServerData> {
    const { data } = this;
    this.data = [];
    const whole = parseJson(data.join('\n'));
    if (whole === undefined) for (const line of data) yield* this.ofLine(line);
    else yield* this.named(whole);
    this.name = '';
  }

  private *ofLine(line: string): Iterable<ServerData> {
    if (this.isDone || line.trim() === '') return;
    this.isDone = line.startsWith('[DONE]');
    if (this.isDone) {
      yield DONE;
      return;
    }
    const value = parseJson(line) ?? (this.name === 'error' ? line : undefined);
    if (value !== undefined) yield* this.named(value);
    else if (this.name === '') throw notJson(line, this.provider);
  }

  private *named(value: unknown): Iterable<ServerData> {
    if (this.name === 'error') yield isObject(value) && value.error ? value : { error: value };
    else if (isObject(value) || Array.isArray(value)) yield value;
  }
}

function notJson(line: string, provider: string): ProviderError {
  const problem = `The response cannot be read: expected JSON in each event of the stream, got "${line.slice(0, 80)}".`;
  return new ProviderError(provider, problem, { retryable: true });
}

/** Lines end in CRLF, LF or CR; chunks split anywhere. */
async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let rest = '';
  let isHalfEnd = false;
  for await (const bytes of body) {
    const text = decoder.decode(bytes, { stream: true });
    const [first = '', ...lines] = (isHalfEnd ? text.replace(/^\n/, '') : text).split(/\r\n|\n|\r/);
    isHalfEnd = text === '' ? isHalfEnd : text.endsWith('\r');
    rest += first;
    for (const line of lines) {
      yield rest;
      rest = line;
    }
  }
  yield rest + decoder.decode();
}
