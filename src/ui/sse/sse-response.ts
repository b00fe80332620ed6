import type { AgentEvent } from '../../agent/agent-event.js';
import type { RunStream } from '../../agent/run-stream.js';
import { anything, text } from '../../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../../internal/options/validate.js';
import { type PageOptions, pageRules, resolveErrorTexts } from '../stream-texts.js';
import { dataEvent, eventBytes, eventStreamResponse } from './encode.js';
import type { Joining } from './event-queue.js';
import type { SSEEvent } from './sse-event.js';
import { sseConverter } from './to-sse-events.js';

/** Options of `sseResponse`. */
export interface SSEResponseOptions extends PageOptions {
  /**
   * The `Last-Event-ID` header of a page that reconnects. If it belongs to this run, the events up to this id are
   * skipped.
   */
  readonly after?: string | undefined;
  /** Headers to add to the response. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

const rules = { ...pageRules, after: text, headers: anything } satisfies OptionTable<SSEResponseOptions>;

/**
 * Returns a web response with the events of a run as server-sent events. `event` is the type of the event, and `data`
 * is JSON. `id` is the id of the run with the number of its events so far.
 *
 * For a slow client, waiting deltas of one model attempt are joined. A disconnected client aborts the run.
 *
 * @example
 * const get = () => sseResponse(agent.stream('Hello'));
 * // id: run_…:1
 * // event: run-start
 * // data: {"type":"run-start","runId":"…"}
 */
export function sseResponse(stream: RunStream<unknown>, options: SSEResponseOptions = {}): Response {
  validateOptions(options, rules);
  const { convert, fail } = sseConverter({ decides: options.decides ?? true, ...resolveErrorTexts(options) });
  const { after = '' } = options;
  const last = after.lastIndexOf(':');
  let count = 0;
  let run: string | undefined;
  const conversion = {
    convert(next: AgentEvent): NumberedEvent[] {
      count += 1;
      // The first event belongs to the outermost run, whose id all event ids contain.
      run ??= next.runId;
      const isKnown = run === after.slice(0, last) && count <= Number(after.slice(last + 1));
      const id = `${run}:${count}`;
      return convert(next).flatMap((event) => (isKnown ? [] : [{ type: event.type, event, id }]));
    },
    fail: (error: unknown): NumberedEvent[] => fail(error).map((event) => ({ type: event.type, event })),
    ...joining,
  };
  const encode = ({ id, event }: NumberedEvent) =>
    `${id === undefined ? '' : `id: ${id}\n`}event: ${event.type}\n${dataEvent(event)}`;
  return eventStreamResponse(eventBytes(stream, conversion, { encode }), options.headers);
}

/** An event with its id. A run that failed before its first event has no id. */
interface NumberedEvent {
  readonly type: SSEEvent['type'];
  readonly event: SSEEvent;
  readonly id?: string;
}

/**
 * Joins events that wait for a slow client. Deltas of one model attempt become one. Of the progress of a tool call,
 * only the latest is kept.
 */
const joining: Joining<NumberedEvent> = {
  keyOf({ event }) {
    const { type, runId = '' } = event;
    if (type === 'text-delta' || type === 'reasoning-delta') return `${runId}.${event.turn}.${event.attempt}`;
    if (type === 'tool-delta') return `${runId}.${event.callId}`;
    // Without a call id, two deltas may belong to different calls of the same tool.
    if (type !== 'tool-input-delta' || event.callId === '') return undefined;
    return `${runId}.${event.attempt}.${event.callId}`;
  },
  join({ event: waiting }, { event, ...next }) {
    if (!('text' in event)) return { ...next, event };
    return { ...next, event: { ...event, text: `${(waiting as typeof event).text}${event.text}` } };
  },
};
