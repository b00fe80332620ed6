import type { RunStream } from '../../agent/run-stream.js';
import { anything, callable, fullText, required } from '../../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../../internal/options/validate.js';
import type { Entry } from '../../state/record/entry.js';
import type { NestedPart } from '../nested/nested-part.js';
import { convertRun } from '../run-reader.js';
import { dataEvent, eventBytes, eventStreamResponse } from '../sse/encode.js';
import { type Conversion, itemStream, type Joining } from '../sse/event-queue.js';
import { type PageOptions, pageRules, resolveErrorTexts } from '../stream-texts.js';
import type { AgUIEvent } from './ag-ui-event.js';
import { AgUIWriter, PROGRESS } from './ag-ui-writer.js';

/** Options of `toAgUIStream`. */
export interface AgUIStreamOptions extends PageOptions {
  /** The `threadId` of the AG-UI request. */
  readonly threadId: string;
  /** The `runId` of the AG-UI request. Default: the id of the run. */
  readonly runId?: string | undefined;
  /**
   * Returns the entries of the session. Called if the run replaces text that the client already has, because a snapshot
   * of all messages then follows. Default: the messages of the run.
   */
  readonly entries?: (() => readonly Entry[]) | undefined;
}

/** Options of `agUIResponse`. */
export interface AgUIResponseOptions extends AgUIStreamOptions {
  /** Headers to add to the response. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

const rules = {
  ...pageRules,
  threadId: required(fullText),
  runId: fullText,
  entries: callable,
} satisfies OptionTable<AgUIStreamOptions>;
const responseRules = { ...rules, headers: anything } satisfies OptionTable<AgUIResponseOptions>;

/**
 * Converts a run to a stream of AG-UI events. Cancelling the stream aborts the run.
 *
 * @example
 * const reader = toAgUIStream(agent.stream('Hello'), { threadId: 'thread-1' }).getReader();
 * const { value } = await reader.read();
 */
export function toAgUIStream(stream: RunStream<unknown>, options: AgUIStreamOptions): ReadableStream<AgUIEvent> {
  validateOptions(options, rules);
  return itemStream(stream, conversion(options));
}

/**
 * Returns a web response with the AG-UI events of a run, as server-sent events. A disconnected client aborts the run.
 *
 * @example
 * const post = async (request: Request) => {
 *   const body = fromAgUIInput(await request.json());
 *   if (body.type !== 'message') return new Response(null, { status: 400 });
 *   return agUIResponse(agent.stream(body.message), { threadId: body.chatId, runId: body.runId });
 * };
 */
export function agUIResponse(stream: RunStream<unknown>, options: AgUIResponseOptions): Response {
  validateOptions(options, responseRules);
  const body = eventBytes(stream, conversion(options), { encode: dataEvent });
  return eventStreamResponse(body, options.headers);
}

function conversion({ decides = true, errorText, toolErrorText, ...ids }: AgUIStreamOptions): Conversion<AgUIEvent> {
  const all = { ...ids, decides, ...resolveErrorTexts({ errorText, toolErrorText }) };
  const page = { ...all, nestedItem: nestedActivity };
  return { ...convertRun<AgUIEvent>(page, (push) => new AgUIWriter(all, push)), ...joining };
}

function nestedActivity({ type, id, data }: NestedPart): AgUIEvent {
  return { type: 'ACTIVITY_SNAPSHOT', messageId: id, activityType: type, content: data } as AgUIEvent;
}

/**
 * Joins events that wait for a slow client. Deltas of one message or tool call become one. Of the progress of a tool
 * call and of an activity, only the latest is kept.
 */
const joining: Joining<AgUIEvent> = {
  keyOf(event) {
    if (event.type === 'TEXT_MESSAGE_CONTENT' || event.type === 'REASONING_MESSAGE_CONTENT') return event.messageId;
    if (event.type === 'TOOL_CALL_ARGS') return event.toolCallId;
    if (event.type === 'ACTIVITY_SNAPSHOT') return event.messageId;
    if (event.type !== 'CUSTOM' || event.name !== PROGRESS) return undefined;
    return (event.value as { readonly toolCallId: string }).toolCallId;
  },
  join: (waiting, next) => ('delta' in next ? { ...next, delta: (waiting as typeof next).delta + next.delta } : next),
};
