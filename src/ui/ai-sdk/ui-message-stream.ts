import type { RunStream } from '../../agent/run-stream.js';
import { anything, fullText } from '../../internal/options/rules.js';
import { type OptionRule, type OptionTable, validateOptions } from '../../internal/options/validate.js';
import { convertRun } from '../run-reader.js';
import { dataEvent, eventBytes, eventStreamResponse } from '../sse/encode.js';
import { type Conversion, itemStream } from '../sse/event-queue.js';
import { pipeResponse, type ServerResponseLike } from '../sse/pipe.js';
import { type PageOptions, pageRules, resolveErrorTexts } from '../stream-texts.js';
import { ChunkWriter } from './chunk-writer.js';
import { holdSteps } from './hold-steps.js';
import { joining, nestedPart, type UIMessageChunk } from './ui-chunk.js';

/** Options of `toUIMessageStream`. */
export interface UIMessageStreamOptions extends PageOptions {
  /**
   * The id of the assistant message. If the run resumes an earlier one, pass the id of the message that it continues.
   * Default: the id of the run.
   */
  readonly messageId?: string | undefined;
  /**
   * The major version of the package `ai` on the page. Version 6 cannot take back text, so it receives the text of each
   * model call only at the end of the call. Default: 7.
   */
  readonly version?: 6 | 7 | undefined;
}

/** Options of `uiMessageResponse` and `pipeUIMessages`. */
export interface UIMessageResponseOptions extends UIMessageStreamOptions {
  /** Headers to add to the response. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The server-sent event that ends a UI message stream. */
export const DONE = 'data: [DONE]\n\n';
const version: OptionRule = { expected: '6 or 7', accepts: (value) => value === 6 || value === 7 };
const rules = { ...pageRules, messageId: fullText, version } satisfies OptionTable<UIMessageStreamOptions>;
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
 * Returns a web response with the UI message stream of a run, as server-sent events. A disconnected client aborts the
 * run.
 *
 * @example
 * const post = async (request: Request) => uiMessageResponse(agent.stream(await request.text()));
 */
export function uiMessageResponse(stream: RunStream<unknown>, options: UIMessageResponseOptions = {}): Response {
  validateOptions(options, responseRules);
  const body = eventBytes(stream, conversion(options), { encode: dataEvent, end: DONE });
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

function conversion(options: UIMessageStreamOptions): Conversion<UIMessageChunk> {
  const { messageId, decides = true, version, ...texts } = options;
  const all = { messageId, decides, ...resolveErrorTexts(texts) };
  const page = { ...all, nestedItem: nestedPart };
  const convert = convertRun<UIMessageChunk>(
    page,
    (push) => new ChunkWriter(all, version === 6 ? holdSteps(push) : push),
  );
  return { ...convert, ...joining };
}
