import { ProviderError } from './error.js';
import { isObject, parseJson, type WireObject } from './wire.js';

/**
 * Receives one event of a response: parsed JSON, {@link DONE} at the end, or a whole body as a string if it is not an
 * event stream.
 */
export type TakeEvent = (event: unknown) => void;

/** The event that stands for `[DONE]`, with which a server ends a stream. */
export const DONE: WireObject = Object.freeze({});

/**
 * Matches the field name at the start of a line of server-sent events, with the colon and the space after it. Also
 * matches the colon of a comment.
 */
const FIELD = /^(data|error|event|id|retry|): ?/;

const LINE_FEED = 10;
const SPACE = 32;
const OPENING_BRACKET = 91;
const OPENING_BRACE = 123;

/**
 * Splits bytes into server-sent events. Accepts deviations from the standard: events that do not end with an empty
 * line, an `error` field, and keep-alive messages that are not JSON.
 *
 * A body that is not an event stream is reported as one string. After `[DONE]`, the body is read to its end, so that
 * the connection can be reused, but nothing is reported.
 */
export class EventReader {
  private readonly decoder = new TextDecoder();
  /** The beginning of a line whose end has not arrived yet. */
  private rest = '';
  /** True if the text so far ends with CR. An LF that follows then belongs to the same line end. */
  private isAfterReturn = false;
  private isStream = false;
  private isDone = false;
  private name = '';
  private data: string[] = [];
  /** The lines before the first line with an event field. A body without such a line is not an event stream. */
  private plain = '';

  constructor(
    private readonly source: { readonly provider: string; readonly skips?: ReadonlySet<string> | undefined },
    private readonly take: TakeEvent,
  ) {}

  push(bytes: Uint8Array): void {
    this.split(this.decoder.decode(bytes, { stream: true }));
  }

  end(): void {
    this.split(this.decoder.decode());
    this.takeLine(this.rest);
    if (this.isStream) this.endEvent();
    else this.take(this.plain);
  }

  /**
   * Splits text into lines. Lines end in CRLF, LF or CR; chunks split anywhere. Searches each character once, even in a
   * long line.
   */
  private split(text: string): void {
    if (text === '') return;
    let start = this.isAfterReturn && text.charCodeAt(0) === LINE_FEED ? 1 : 0;
    this.isAfterReturn = text.endsWith('\r');
    let feed = text.indexOf('\n', start);
    let carriage = text.indexOf('\r', start);
    while (feed >= 0 || carriage >= 0) {
      const isFeed = carriage < 0 || (feed >= 0 && feed < carriage);
      const end = isFeed ? feed : carriage;
      const line = text.slice(start, end);
      start = end + (!isFeed && feed === carriage + 1 ? 2 : 1);
      if (feed >= 0 && feed < start) feed = text.indexOf('\n', start);
      if (!isFeed) carriage = text.indexOf('\r', start);
      const whole = this.rest === '' ? line : this.rest + line;
      this.rest = '';
      this.takeLine(whole);
    }
    this.rest += start === 0 ? text : text.slice(start);
  }

  private takeLine(line: string): void {
    if (line === '') {
      if (this.isStream) this.endEvent();
      else this.plain += '\n';
    } else if (this.isStream && line.startsWith('data:')) {
      this.takeField('data', line.slice(line.charCodeAt(5) === SPACE ? 6 : 5));
    } else {
      this.takeOther(line);
    }
  }

  private takeOther(line: string): void {
    const field = FIELD.exec(line);
    if (field && !this.isStream) this.beginStream();
    if (field) this.takeField(field[1] ?? '', line.slice(field[0].length));
    else if (!this.isStream) this.plain += `${line}\n`;
  }

  /**
   * Called at the first line with an event field. Some servers send a complete response as JSON before it, followed by
   * `[DONE]` as an event.
   */
  private beginStream(): void {
    this.isStream = true;
    const value = this.plain.trim() === '' ? undefined : parseJson(this.plain);
    if (isObject(value)) this.take(value);
  }

  /** Takes over one field of an event. If a single line has all of the event's JSON, reports the event at once. */
  private takeField(field: string, value: string): void {
    if (field === 'event') this.name = value.trim();
    else if (field === 'error') this.name = field;
    if ((field !== 'data' && field !== 'error') || this.isDone || this.source.skips?.has(this.name)) return;
    const whole = this.data.length === 0 && mayBeWhole(value) ? parseJson(value) : undefined;
    if (whole === undefined) this.data.push(value);
    else this.report(whole);
  }

  private endEvent(): void {
    if (this.data.length > 0) this.takeLines();
    this.name = '';
  }

  private takeLines(): void {
    const { data } = this;
    this.data = [];
    const whole = parseJson(data.join('\n'));
    if (whole !== undefined) this.report(whole);
    else for (const line of data) this.takeDataLine(line);
  }

  private takeDataLine(line: string): void {
    if (this.isDone || line.trim() === '') return;
    this.isDone = line.startsWith('[DONE]');
    if (this.isDone) return this.take(DONE);
    const value = parseJson(line) ?? (this.name === 'error' ? line : undefined);
    if (value !== undefined) this.report(value);
    else if (this.name === '') throw notJson(line, this.source.provider);
  }

  private report(value: unknown): void {
    if (this.name === 'error') this.take(isObject(value) && value.error ? value : { error: value });
    else if (isObject(value) || Array.isArray(value)) this.take(value);
  }
}

/**
 * True if a line may be a complete JSON object or array. Other lines are not parsed, because an exception of
 * `JSON.parse` takes longer than all other work on an event.
 */
function mayBeWhole(value: string): boolean {
  const first = value.charCodeAt(0);
  if (first === OPENING_BRACE) return value.trimEnd().endsWith('}');
  return first === OPENING_BRACKET && value !== '[DONE]';
}

function notJson(line: string, provider: string): ProviderError {
  const problem = `The response cannot be read: expected JSON in each event of the stream, got "${line.slice(0, 80)}".`;
  return new ProviderError(provider, problem, { retryable: true });
}
