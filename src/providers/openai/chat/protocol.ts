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

/** The chat completions API of one client. */
export interface ChatTarget extends Dialect {
  readonly client: OpenAIClient;
  readonly isOwnClient: boolean;
}

/** Prepares a request for the chat completions API. */
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
  { onPart, idle }: WatchedRequest,
  { model, isOwnClient }: ChatTarget,
): Promise<ModelResponse> {
  if (!onPart) return readCompletion(wholeOf(answer.data), model);
  const streamed = new StreamedAnswer(onPart);
  // The client's own parser refuses streams that deviate from the standard, so Keelson parses the body itself.
  await receiveEvents(answer, { provider: 'openai', isOwnClient, idle }, (event) => streamed.take(event));
  return readCompletion(streamed.whole(), model);
}

/** Some servers stream even without `stream: true`. The client then returns the body as a string. */
function wholeOf(data: unknown): unknown {
  if (typeof data !== 'string' || !/^data:/m.test(data)) return data;
  const streamed = new StreamedAnswer(() => {});
  readEvents(data, 'openai', (event) => streamed.take(event));
  return streamed.whole();
}
