import type { Answer } from './client.js';
import { ProviderError } from './error.js';
import { toProviderError } from './failure.js';
import { isObject, parseJson, type WireObject } from './wire.js';

type ServerData = WireObject | readonly unknown[];

/** What {@link readEvents} gives where the server says `[DONE]`. */
export const DONE: WireObject = Object.freeze({});

/** A field of an event or a comment, with the colon and the space after it. */
const FIELD = /^(data|error|event|id|retry|): ?/;

/**
 * The events of a streamed answer; an answer that came whole is one event. Only errors of the client are translated, and
 * not those of whoever consumes the events.
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
 * Reads the body of an own client always. Reads that of a given client only if it is not an event stream: something may
 * watch the client's streams, and Bedrock's has its own format.
 */
function bodyEvents({ response }: Answer, provider: string, isOwnClient: boolean): AsyncIterable<unknown> | undefined {
  if (isOwnClient && response?.body === null) return readEvents(bytesOf(''), provider);
  if (!response || !isAsyncIterable(response.body)) return undefined;
  const type = response.headers.get('content-type') ?? '';
  const isStream = /^(?:text\/event-stream|application\/vnd\.amazon\.eventstream)\b/i.test(type);
  return isOwnClient || !isStream ? readEvents(response.body, provider) : undefined;
}

/** A string as a body. */
export async function* bytesOf(text: string): AsyncIterable<Uint8Array> {
  yield new TextEncoder().encode(text);
}

function isAsyncIterable(value: unknown): value is AsyncIterable<Uint8Array> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/**
 * The JSON of each event in a body; of a body that is no stream of events, its text. Servers are freer than the standard:
 * a line may be an event by itself, the last one may lack its end, an error may be a field, and what keeps the
 * connection alive need not be JSON. What follows `[DONE]` is read, so that the connection can be used again, and left out.
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

/** A whole answer that `[DONE]` follows all the same. */
function* dataIn(text: string): Iterable<ServerData> {
  const value = parseJson(text);
  if (isObject(value)) yield value;
}

/** One event after the other, put together from its lines. */
class ServerEvent {
  private name = '';
  private data: string[] = [];
  private isDone = false;

  constructor(private readonly provider: string) {}

  /** Gives the event at once where a line is the whole of it. */
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
  const problem = `The answer is no whole JSON: an event of the stream is "${line.slice(0, 80)}".`;
  return new ProviderError(provider, problem, { retryable: true });
}

/** A line may end in any of three ways, and a write anywhere. */
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
