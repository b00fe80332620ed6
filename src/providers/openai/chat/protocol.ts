import type { ModelRequest, ModelResponse } from '../../../model/model.js';
import { type Answer, begun, type PreparedCall } from '../../shared/client.js';
import { readEvents, receiveEvents } from '../../shared/event-stream.js';
import type { WatchedRequest } from '../../shared/idle.js';
import { withAdvice } from '../advice.js';
import type { OpenAIClient } from '../client.js';
import type { Dialect } from './request.js';
import { toWireRequest } from './request.js';
import { readCompletion } from './response.js';
import { StreamedAnswer } from './stream.js';
import { WrittenCallGate, withWrittenCalls, writesCalls } from './written-calls.js';

/** A client for the chat completions API, with facts about its server. */
export interface ChatTarget extends Dialect {
  readonly client: OpenAIClient;
  readonly isOwnClient: boolean;
}

/** Builds a request for the chat completions API, and returns functions to send it and to read the response. */
export function prepareCompletion(target: ChatTarget, request: ModelRequest): PreparedCall {
  const { client, model } = target;
  const body = toWireRequest(request, target);
  return {
    send: (options) =>
      begun(client.chat.completions.create(body, options)).catch((error) => {
        throw withAdvice(error, { model, api: 'chat' });
      }),
    read: (answer, own) => readAnswer(answer, own, target),
  };
}

async function readAnswer(
  answer: Answer,
  { onPart, idle, tools }: WatchedRequest,
  { model, isOwnClient, client }: ChatTarget,
): Promise<ModelResponse> {
  const offered = writesCalls(client.baseURL) ? tools : [];
  if (!onPart) return withWrittenCalls(readCompletion(wholeOf(answer.data), model), offered);
  const gate = new WrittenCallGate(onPart);
  const streamed = new StreamedAnswer(offered.length > 0 ? (part) => gate.take(part) : onPart);
  // The client's own parser refuses streams that deviate from the standard, so Keelson parses the body itself.
  await receiveEvents(answer, { provider: 'openai', isOwnClient, idle }, (event) => streamed.take(event));
  const written = readCompletion(streamed.whole(), model);
  const response = withWrittenCalls(written, offered);
  if (response === written) gate.open();
  return response;
}

/**
 * Returns a complete answer. Some servers stream without being asked. Then the client returns the whole stream as a
 * string.
 */
function wholeOf(data: unknown): unknown {
  if (typeof data !== 'string' || !/^data:/m.test(data)) return data;
  const streamed = new StreamedAnswer(() => {});
  readEvents(data, 'openai', (event) => streamed.take(event));
  return streamed.whole();
}
