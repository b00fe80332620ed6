import type { RunStream } from '../../agent/run-stream.js';
import { anything } from '../../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../../internal/options/validate.js';
import { type PageOptions, pageRules, resolveErrorTexts } from '../stream-texts.js';
import { dataEvent, eventBytes, eventStreamResponse } from './encode.js';
import type { Joining } from './event-queue.js';
import type { SSEEvent } from './sse-event.js';
import { sseConverter } from './to-sse-events.js';

/** Options of `sseResponse`. */
export interface SSEResponseOptions extends PageOptions {
  /** Further headers of the response. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

const rules = { ...pageRules, headers: anything } satisfies OptionTable<SSEResponseOptions>;

/**
 * Returns a web response with the events of a run as server-sent events. Each has the type of the event as its `event`,
 * the number of the event as its `id`, and JSON as its data. Waiting deltas of one attempt are joined. A disconnected
 * client aborts the run.
 *
 * @example
 * const get = () => sseResponse(agent.stream('Hello'));
 * // id: 1
 * // event: run-start
 * // data: {"type":"run-start","runId":"…"}
 */
export function sseResponse(stream: RunStream<unknown>, options: SSEResponseOptions = {}): Response {
  validateOptions(options, rules);
  const conversion = {
    ...sseConverter({ decides: options.decides ?? true, ...resolveErrorTexts(options) }),
    ...joining,
  };
  let id = 0;
  const encode = (event: SSEEvent) => {
    id += 1;
    return `id: ${id}\nevent: ${event.type}\n${dataEvent(event)}`;
  };
  return eventStreamResponse(eventBytes(stream, conversion, { encode }), options.headers);
}

/** Joins the deltas of one attempt, and keeps only the latest progress of a tool call. */
const joining: Joining<SSEEvent> = {
  keyOf(event) {
    if (event.type === 'text-delta' || event.type === 'reasoning-delta') return `${event.turn}.${event.attempt}`;
    if (event.type === 'tool-delta') return event.callId;
    // Without an id, two deltas may belong to two calls of the same tool.
    if (event.type !== 'tool-input-delta' || event.callId === '') return undefined;
    return `${event.attempt}.${event.callId}`;
  },
  join: (waiting, next) => ('text' in next ? { ...next, text: `${(waiting as typeof next).text}${next.text}` } : next),
};
