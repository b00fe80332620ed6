import { AnswerTooLongError } from './json-rpc.js';

/** Reads a body as a string. Throws an AnswerTooLongError if it has more than `maxBytes`. */
export async function readText({ body }: Response, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let size = 0;
  let text = '';
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw new AnswerTooLongError(maxBytes);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

export function release({ body }: Response): void {
  body?.cancel().catch(() => {});
}

export function isEventStream(response: Response): boolean {
  return response.ok && mediaTypeOf(response) === 'text/event-stream';
}

export function mediaTypeOf({ headers }: Response): string {
  return headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
}

/** One server-sent event. An event without data still carries its id and its retry time. */
export interface ServerSentEvent {
  readonly name: string;
  readonly data: string;
  readonly id: string | undefined;
  readonly retryMs: number | undefined;
}

/**
 * Reads the server-sent events of a body. Lines end in CRLF, LF or CR; chunks split anywhere. Drops an incomplete event at
 * the end. Throws an AnswerTooLongError if one event has more than `maxBytes`.
 */
export async function* readEvents(
  body: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder();
  let lines: string[] = [];
  let line: string[] = [];
  let size = 0;
  let afterReturn = false;
  for await (const chunk of body ?? []) {
    const decoded = decoder.decode(chunk, { stream: true });
    const text = afterReturn && decoded.startsWith('\n') ? decoded.slice(1) : decoded;
    if (decoded !== '') afterReturn = decoded.endsWith('\r');
    for (const [index, part] of text.split(/\r\n|\r|\n/).entries()) {
      if (index > 0) {
        const ended = line.join('');
        if (ended !== '') lines.push(ended);
        else {
          if (lines.length > 0) yield eventOf(lines);
          lines = [];
          size = 0;
        }
        line = [];
      }
      size += Buffer.byteLength(part) + 1;
      if (size > maxBytes) throw new AnswerTooLongError(maxBytes);
      line.push(part);
    }
  }
}

function eventOf(lines: readonly string[]): ServerSentEvent {
  const fields = lines.map((line) => /^([^:]*):? ?(.*)$/s.exec(line) ?? []);
  const valuesOf = (field: string) => fields.flatMap(([, name, value = '']) => (name === field ? [value] : []));
  const retry = valuesOf('retry').at(-1);
  return {
    name: valuesOf('event').at(-1) || 'message',
    data: valuesOf('data').join('\n'),
    id: valuesOf('id').at(-1),
    retryMs: retry !== undefined && /^\d{1,9}$/.test(retry) ? Number(retry) : undefined,
  };
}
