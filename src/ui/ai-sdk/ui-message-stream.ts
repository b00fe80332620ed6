import type { RunStream } from '../../agent/run-stream.js';
import { anything, fullText } from '../../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../../internal/options/validate.js';
import { convertRun } from '../run-reader.js';
import { dataEvent, eventBytes, eventStreamResponse } from '../sse/encode.js';
import { type Conversion, itemStream, type Joining } from '../sse/event-queue.js';
import { pipeResponse, type ServerResponseLike } from '../sse/pipe.js';
import { type PageOptions, pageRules, resolveErrorTexts } from '../stream-texts.js';
import { ChunkWriter } from './chunk-writer.js';
import type { UIMessageChunk } from './ui-chunk.js';

/** Options of `toUIMessageStream`. */
export interface UIMessageStreamOptions extends PageOptions {
  /** The id of the assistant message, as from `nextMessageId`. Default: the page chooses an id. */
  readonly messageId?: string | undefined;
}

/** Options of `uiMessageResponse` and `pipeUIMessages`. */
export interface UIMessageResponseOptions extends UIMessageStreamOptions {
  /** Further headers of the response. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

const rules = { ...pageRules, messageId: fullText } satisfies OptionTable<UIMessageStreamOptions>;
const responseRules = { ...rules, headers: anything } satisfies OptionTable<UIMessageResponseOptions>;

/**
 * Converts a run to a stream of UI message chunks, for `useChat` of the AI SDK (protocol version 1) and for front ends
 * that read the same protocol. Cancelling the stream aborts the run.
 *
 * @example
 * const reader = toUIMessageStream(agent.stream('Hello')).getReader();
 * const { value } = await reader.read();
 */
export function toUIMessageStream(
  stream: RunStream<unknown>,
  options: UIMessageStreamOptions = {},
): ReadableStream<UIMessageChunk> {
  validateOptions(options, rules);
  return itemStream(stream, conversion(options));
}

/**
 * Returns a web response with the UI message stream of a run, as server-sent events.
 *
 * @example
 * const post = async (request: Request) => uiMessageResponse(agent.stream(await request.text()));
 */
export function uiMessageResponse(stream: RunStream<unknown>, options: UIMessageResponseOptions = {}): Response {
  validateOptions(options, responseRules);
  const body = eventBytes(stream, conversion(options), { encode: dataEvent, end: 'data: [DONE]\n\n' });
  return eventStreamResponse(body, { 'x-vercel-ai-ui-message-stream': 'v1', ...options.headers });
}

/**
 * Writes the UI message stream of a run to a response of `node:http` or Express. Resolves when the stream has ended or
 * the client has disconnected. A disconnected client aborts the run.
 *
 * @example
 * import { createServer } from 'node:http';
 *
 * createServer((_request, response) => void pipeUIMessages(agent.stream('Hello'), response)).listen(3000);
 */
export function pipeUIMessages(
  stream: RunStream<unknown>,
  response: ServerResponseLike,
  options: UIMessageResponseOptions = {},
): Promise<void> {
  return pipeResponse(uiMessageResponse(stream, options), response);
}

function conversion({ messageId, decides = true, ...texts }: UIMessageStreamOptions): Conversion<UIMessageChunk> {
  const all = { messageId, decides, ...resolveErrorTexts(texts) };
  return { ...convertRun<UIMessageChunk>((push) => new ChunkWriter(all, push)), ...joining };
}

/** Joins the deltas of one part or one tool call, and keeps only the latest progress of a tool call. */
const joining: Joining<UIMessageChunk> = {
  keyOf(chunk) {
    if (chunk.type === 'text-delta' || chunk.type === 'reasoning-delta') return chunk.id;
    if (chunk.type === 'tool-input-delta') return chunk.toolCallId;
    return chunk.type === 'tool-output-available' && chunk.preliminary ? chunk.toolCallId : undefined;
  },
  join(waiting, next) {
    if ('delta' in next) return { ...next, delta: (waiting as typeof next).delta + next.delta };
    if (next.type !== 'tool-input-delta') return next;
    return { ...next, inputTextDelta: (waiting as typeof next).inputTextDelta + next.inputTextDelta };
  },
};
