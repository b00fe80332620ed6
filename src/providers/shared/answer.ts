import type { ModelPart, ModelRequest, ModelResponse } from '../../model/model.js';
import { abortable, clockOf, withRetries } from './call.js';
import { ProviderError, withRequestId } from './error.js';
import { readEvents } from './event-stream.js';

/** What a client is told of one request beside its body. */
export interface ClientRequestOptions {
  readonly signal?: AbortSignal;
  readonly headers?: Record<string, string>;
  readonly maxRetries?: number;
}

/** What a client gives back for one request. */
export interface ClientAnswer extends PromiseLike<unknown> {
  /** The answer with its HTTP response. */
  withResponse?(): Promise<{ readonly data: unknown; readonly response: HttpAnswer }>;
}

/** What is read of an HTTP response beside its data. */
export interface HttpAnswer {
  readonly headers: {
    /** A header's value. */
    get(name: string): string | null;
  };
  /** The body: read as a stream of bytes, where it is one. */
  readonly body?: unknown;
}

/** An answer that has begun. */
export interface Answer {
  readonly data: unknown;
  readonly response?: HttpAnswer;
}

/** How a provider's requests are made, and its answers read. */
export interface ProviderCall {
  readonly provider: string;
  /** The header of an answer that bears the id of its request. */
  readonly requestIdHeader: string;
  readonly maxRetries: number;
  readonly headers: Readonly<Record<string, string>> | undefined;
  send(options: ClientRequestOptions): ClientAnswer;
  read(answer: Answer, request: ModelRequest): Promise<ModelResponse>;
}

/** Makes a call, again where that may help, under a signal of its own. */
export function answerTo(
  request: ModelRequest,
  prepare: (request: ModelRequest) => Promise<ProviderCall>,
): Promise<ModelResponse> {
  return abortable(request.signal, async (signal) => {
    const own = { ...request, signal };
    const call = await prepare(own);
    const { provider, maxRetries, headers } = call;
    const options = { maxRetries: 0, ...(signal && { signal }), ...(headers && { headers: { ...headers } }) };
    const outcome = await withRetries(async () => readOnce(await begun(call.send(options)), own, call), {
      provider,
      maxRetries,
      signal,
      clock: clockOf(request),
    });
    if ('failure' in outcome) throw outcome.failure;
    return outcome.response;
  });
}

async function begun(answer: ClientAnswer): Promise<Answer> {
  return answer.withResponse ? await answer.withResponse() : { data: await answer };
}

type Outcome = { readonly response: ModelResponse } | { readonly failure: unknown };

/** Throws only what may be sent again: an error with a status, before anything of an answer was shown. */
async function readOnce(answer: Answer, request: ModelRequest, call: ProviderCall): Promise<Outcome> {
  const { onPart, signal } = request;
  let isShown = false;
  const show = (part: ModelPart) => {
    if (signal?.aborted) return;
    isShown = true;
    onPart?.(part);
  };
  try {
    return { response: await call.read(answer, { ...request, onPart: onPart && show }) };
  } catch (error) {
    const failure = withRequestId(error, answer.response?.headers.get(call.requestIdHeader));
    if (!isShown && failure instanceof ProviderError && failure.status !== undefined) throw failure;
    return { failure };
  }
}

/**
 * The events of a body that the client did not read: all where `isOurs`, else those of one that is no stream of events,
 * since a client that was given may be wrapped by something that watches its streams, and Bedrock's reads one of its own.
 */
export function eventsOf(
  response: HttpAnswer | undefined,
  provider: string,
  isOurs: boolean,
): AsyncIterable<unknown> | undefined {
  if (isOurs && response?.body === null) return readEvents(bytesOf(''), provider);
  if (!response || !isAsyncIterable(response.body)) return undefined;
  const isStream = /^(?:text\/event-stream|application\/vnd\.amazon\.eventstream)\b/i.test(
    response.headers.get('content-type') ?? '',
  );
  return isOurs || !isStream ? readEvents(response.body, provider) : undefined;
}

/** A text as a body has it. */
export async function* bytesOf(text: string): AsyncIterable<Uint8Array> {
  yield new TextEncoder().encode(text);
}

/** Whether a value is a stream. */
export function isAsyncIterable(value: unknown): value is AsyncIterable<Uint8Array> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
