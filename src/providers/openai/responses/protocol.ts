import type { ModelRequest, ModelResponse } from '../../../model/model.js';
import { type Answer, begun, type ClientRequestOptions, type PreparedCall } from '../../shared/client.js';
import { readEvents, receiveEvents } from '../../shared/event-stream.js';
import { toProviderError } from '../../shared/failure.js';
import type { WatchedRequest } from '../../shared/idle.js';
import { isObject, objectsIn, textOr, type WireObject } from '../../shared/wire.js';
import { withAdvice } from '../advice.js';
import type { OpenAIResponsesClient } from '../client.js';
import { reasons } from '../model-names.js';
import { chainedInput, isForgotten, withStored } from './chain.js';
import { type RequestTarget, toResponsesRequest, withoutEncryption, withoutReasoning } from './request/request.js';
import { finished, isPending } from './response/background.js';
import { readResponse, responseIn } from './response/response.js';
import { REPEATING_EVENTS, StreamedResponse } from './response/stream.js';

/** A client for the Responses API, with the options for its requests. */
export interface ResponsesTarget extends RequestTarget {
  readonly client: OpenAIResponsesClient;
  readonly isOwnClient: boolean;
}

/** Builds a request for the Responses API, and returns functions to send it and to read the response. */
export function prepareResponse(target: ResponsesTarget, request: ModelRequest): PreparedCall {
  const call = new ResponsesCall(target, request);
  return { send: (options) => call.send(options), read: (answer, own) => call.read(answer, own) };
}

class ResponsesCall {
  private body: WireObject;
  private readonly whole: WireObject;
  private options: ClientRequestOptions = {};

  constructor(
    private readonly target: ResponsesTarget,
    private readonly request: ModelRequest,
  ) {
    this.whole = toResponsesRequest(request, target);
    this.body = target.previousResponseId ? this.chained() : this.whole;
  }

  async send(options: ClientRequestOptions): Promise<Answer> {
    this.options = options;
    for (;;) {
      try {
        return await begun(this.target.client.create(this.body, options));
      } catch (error) {
        const other = this.bodyAfter(error);
        if (other === undefined) throw withAdvice(error, { model: this.target.model, api: 'responses' });
        this.body = other;
      }
    }
  }

  async read(answer: Answer, request: WatchedRequest): Promise<ModelResponse> {
    const { model, previousResponseId } = this.target;
    const { onPart } = request;
    const body = await this.bodyOf(answer, request);
    const response = readResponse(body, { model, isRunByServer: (item) => isOwnSearch(item, this.body) });
    if (this.body.background === true && onPart) for (const part of response.content) pushWhole(part, onPart);
    if (!previousResponseId) return response;
    return { ...response, content: withStored(response.content, textOr(body.id), this.request.messages) };
  }

  private async bodyOf(answer: Answer, { onPart, idle }: WatchedRequest): Promise<WireObject> {
    const { client, isOwnClient } = this.target;
    if (this.body.stream === true && onPart) {
      const streamed = new StreamedResponse(onPart);
      const source = { provider: 'openai', isOwnClient, skips: REPEATING_EVENTS, idle };
      await receiveEvents(answer, source, (event) => streamed.take(event));
      return streamed.whole();
    }
    const body = wholeIn(answer.data);
    if (this.body.background !== true || !isPending(body)) return body;
    return finished(body, { client, request: this.request, options: this.options });
  }

  /**
   * Returns another body for a request that the server has refused, if this body may be accepted. Otherwise returns
   * undefined.
   */
  private bodyAfter(error: unknown): WireObject | undefined {
    const { body } = this;
    const { code, message } = refusalIn(error);
    if (body !== this.whole && isForgotten(code, message)) return this.whole;
    if (/encrypted content is not supported/i.test(message) && reasons(this.target.model) !== true) {
      return changed(body, withoutEncryption(body));
    }
    const isUnreadable = code === 'invalid_encrypted_content' || /encrypted content .*could not be/i.test(message);
    return isUnreadable ? changed(body, withoutReasoning(body)) : undefined;
  }

  private chained(): WireObject {
    const { model } = this.target;
    const systemRole = reasons(model) ? 'developer' : 'system';
    const chained = chainedInput(this.request.messages, { model, systemRole, isStored: true });
    return chained === undefined ? this.whole : { ...this.whole, ...chained };
  }
}

/** Matches the names of xAI's own searches. xAI reports the steps of these searches as calls of custom tools. */
const XAI_SEARCHES = /^(?:x_(?:keyword|semantic|user)_search|x_thread_fetch|web_search_with_snippets|browse_page)$/;

/**
 * True for a step of a search that xAI runs itself. False if the request offers a tool with this name, because the call
 * is then for the agent.
 */
function isOwnSearch({ type, name }: WireObject, { tools }: WireObject): boolean {
  const offered = objectsIn(tools);
  const searches = offered.some((tool) => tool.type === 'x_search' || tool.type === 'web_search');
  return (
    searches &&
    type === 'custom_tool_call' &&
    XAI_SEARCHES.test(textOr(name)) &&
    !offered.some((tool) => tool.name === name)
  );
}

/**
 * Returns a complete response. Some servers stream without being asked. Then `data` is the whole stream as a string.
 */
function wholeIn(data: unknown): WireObject {
  if (typeof data !== 'string' || !/^(?:data|event):/m.test(data)) return responseIn(data);
  const streamed = new StreamedResponse(() => {});
  readEvents(data, 'openai', (event) => streamed.take(event));
  return streamed.whole();
}

/**
 * Returns the code and the message of a refused request, from an error of Keelson's own client or of the `openai`
 * package.
 */
function refusalIn(thrown: unknown): { readonly code: unknown; readonly message: string } {
  const { message, cause } = toProviderError('openai', thrown);
  const { code } = isObject(cause) && isObject(cause.error) ? cause.error : {};
  return { code, message };
}

function changed(before: WireObject, after: WireObject): WireObject | undefined {
  return JSON.stringify(before) === JSON.stringify(after) ? undefined : after;
}

/** Reports a message part as one delta. Used for a response in background mode, which arrives whole. */
function pushWhole(part: ModelResponse['content'][number], push: NonNullable<ModelRequest['onPart']>): void {
  if (part.type === 'text') push({ type: 'text-delta', text: part.text });
  if (part.type === 'reasoning' && part.text !== '') push({ type: 'reasoning-delta', text: part.text });
  if (part.type !== 'tool-call' || part.providerExecuted) return;
  const text = part.invalidInput ?? JSON.stringify(part.input) ?? '';
  push({ type: 'tool-input-delta', id: part.id, name: part.name, text });
}
