import { AnswerTooLongError } from './json-rpc.js';

/** One server-sent event. An event without data still carries its id and its retry time. */
export interface ServerSentEvent {
  readonly name: string;
  readonly data: string;
  readonly id: string | undefined;
  readonly retryMs: number | undefined;
}

/** Reads the events of a body. Throws an AnswerTooLongError if one event has more than `maxBytes`. */
export async function* readEvents(
  body: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
): AsyncGenerator<ServerSentEvent> {
  const reader = new EventReader(maxBytes);
  for await (const chunk of body ?? []) yield* reader.push(chunk);
}

/** Lines end in CRLF, LF or CR; chunks split anywhere. An event that has not ended is never given. */
class EventReader {
  private readonly decoder = new TextDecoder();
  private line: string[] = [];
  private lines: string[] = [];
  private size = 0;
  private afterReturn = false;

  constructor(private readonly maxBytes: number) {}

  *push(chunk: Uint8Array): Iterable<ServerSentEvent> {
    const decoded = this.decoder.decode(chunk, { stream: true });
    const text = this.afterReturn && decoded.startsWith('\n') ? decoded.slice(1) : decoded;
    if (decoded !== '') this.afterReturn = decoded.endsWith('\r');
    const [first = '', ...more] = text.split(/\r\n|\r|\n/);
    this.add(first);
    for (const next of more) {
      yield* this.endLine();
      this.add(next);
    }
  }

  private add(part: string): void {
    this.size += Buffer.byteLength(part) + 1;
    if (this.size > this.maxBytes) throw new AnswerTooLongError(this.maxBytes);
    if (part !== '') this.line.push(part);
  }

  private *endLine(): Iterable<ServerSentEvent> {
    const line = this.line.join('');
    this.line = [];
    if (line !== '') this.lines.push(line);
    else {
      if (this.lines.length > 0) yield eventOf(this.lines);
      this.lines = [];
      this.size = 0;
    }
  }
}

function eventOf(lines: readonly string[]): ServerSentEvent {
  const valuesOf = (field: string) =>
    lines.filter((line) => line === field || line.startsWith(`${field}:`)).map((line) => fieldValue(line, field));
  const retry = valuesOf('retry').at(-1);
  return {
    name: valuesOf('event').at(-1) || 'message',
    data: valuesOf('data').join('\n'),
    id: valuesOf('id').at(-1),
    retryMs: retry !== undefined && /^\d{1,9}$/.test(retry) ? Number(retry) : undefined,
  };
}

function fieldValue(line: string, field: string): string {
  return line.slice(field.length + 1).replace(/^ /, '');
}
