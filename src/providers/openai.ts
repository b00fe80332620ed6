import { OptionInvalidError } from '../errors.js';
import type { Model, ModelPart, ModelRequest, ModelResponse } from '../model/model.js';
import { readEvents } from './event-stream.js';
import { clientSource, type HttpAnswer, type OpenAIAnswer, type OpenAIClient, serverAt } from './openai-client.js';
import { type Dialect, toWireRequest } from './openai-request.js';
import { readCompletion } from './openai-response.js';
import { readStream } from './openai-stream.js';
import { abortable, withRetries } from './provider-call.js';
import { ProviderError } from './provider-error.js';

export { PackageMissingError } from '../errors.js';
export type { HttpAnswer, OpenAIAnswer, OpenAIClient, OpenAIRequestOptions } from './openai-client.js';
export { ProviderError, type ProviderFailure } from './provider-error.js';

/** How to reach the provider, and what it understands. */
export interface OpenAIOptions {
  /** A client that is already made, in place of `apiKey` and `baseURL`. Its own retries are not used: see `maxRetries`. */
  readonly client?: OpenAIClient | undefined;
  /**
   * Default: the environment's `OPENAI_API_KEY`. A `baseURL` given here that is not OpenAI's is not shown that one: where
   * such a server wants a key, give it here too.
   */
  readonly apiKey?: string | (() => Promise<string>) | undefined;
  /** A server that speaks OpenAI's chat completions, such as `http://localhost:11434/v1`. Default: `OPENAI_BASE_URL`, then OpenAI. */
  readonly baseURL?: string | undefined;
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * How often a request that found no answer is sent again: after 408, 409, 429, 5xx, also inside a body, and a lost
   * connection, and not once an answer has begun. Waits as long as the server asks, but fails at once where that is over
   * a minute. Default: the client's own, which is 2. Say 0 where a lifecycle retries.
   */
  readonly maxRetries?: number | undefined;
  /** The field that bears `maxOutputTokens`. Default: `max_tokens` for servers other than OpenAI and Azure. */
  readonly maxTokensField?: 'max_completion_tokens' | 'max_tokens' | undefined;
}

/**
 * A model behind OpenAI's chat completions, or behind a server that speaks the same: Ollama, vLLM, LM Studio, llama.cpp,
 * OpenRouter, DeepSeek. Streams where somebody listens. The `openai` package is loaded at the first call.
 *
 * @example
 * const model = openai('llama3.2', { baseURL: 'http://localhost:11434/v1' });
 */
export function openai(modelId: string, options: OpenAIOptions = {}): Model {
  const settings = resolveOptions(modelId, options);
  return {
    id: modelId,
    provider: 'openai',
    generate: (request) => abortable(request.signal, (signal) => generate({ ...request, signal }, settings)),
  };
}

interface OpenAISettings extends Omit<OpenAIOptions, 'client'> {
  readonly modelId: string;
  readonly client: () => Promise<OpenAIClient>;
  readonly isOwnClient: boolean;
}

const KEYS = ['client', 'apiKey', 'baseURL', 'headers', 'maxRetries', 'maxTokensField'];

function resolveOptions(modelId: string, options: OpenAIOptions): OpenAISettings {
  if (typeof modelId !== 'string' || modelId === '') throw new OptionInvalidError('modelId', 'it names no model.');
  const unknown = Object.keys(options).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) {
    throw new OptionInvalidError(unknown, `there is no such option; there are ${KEYS.join(', ')}.`);
  }
  const { maxRetries } = options;
  if (maxRetries !== undefined && !(Number.isInteger(maxRetries) && maxRetries >= 0)) {
    throw new OptionInvalidError('maxRetries', `${maxRetries} is no number of tries. Give 0 or more.`);
  }
  return { ...options, modelId, client: clientSource(options), isOwnClient: options.client === undefined };
}

async function generate(request: ModelRequest, settings: OpenAISettings): Promise<ModelResponse> {
  const client = await settings.client();
  const body = toWireRequest(request, dialectOf(client, settings));
  const maxRetries = settings.maxRetries ?? client.maxRetries ?? 2;
  const { signal } = request;
  const options = {
    maxRetries: 0,
    ...(signal && { signal }),
    ...(settings.headers && { headers: { ...settings.headers } }),
  };
  const policy = { provider: 'openai', maxRetries, signal };
  const outcome = await withRetries(async () => {
    const answer = await send(client.chat.completions.create(body, options));
    return readOnce(answer, request, settings);
  }, policy);
  if ('failure' in outcome) throw outcome.failure;
  return outcome.response;
}

type Outcome = { readonly response: ModelResponse } | { readonly failure: unknown };

/** Throws only what may be sent again: an error with a status, before anything of an answer was shown. */
async function readOnce(answer: Answer, request: ModelRequest, settings: OpenAISettings): Promise<Outcome> {
  const { onPart } = request;
  let isShown = false;
  const show = (part: ModelPart) => {
    isShown = true;
    onPart?.(part);
  };
  try {
    return { response: await read(answer, { ...request, onPart: onPart && show }, settings) };
  } catch (error) {
    const failure = withRequestId(error, answer.response);
    if (!isShown && failure instanceof ProviderError && failure.status !== undefined) throw failure;
    return { failure };
  }
}

function dialectOf(client: OpenAIClient, { modelId, maxTokensField }: OpenAISettings): Dialect {
  const server = serverAt(client.baseURL);
  const usual = server === 'openai' ? 'max_completion_tokens' : 'max_tokens';
  return { model: modelId, maxTokensField: maxTokensField ?? usual, server };
}

interface Answer {
  readonly data: unknown;
  readonly response?: HttpAnswer;
}

async function send(answer: OpenAIAnswer): Promise<Answer> {
  return answer.withResponse ? await answer.withResponse() : { data: await answer };
}

async function read(
  { data, response }: Answer,
  request: ModelRequest,
  settings: OpenAISettings,
): Promise<ModelResponse> {
  const { onPart, signal } = request;
  if (!onPart) return readCompletion(await wholeOf(data), settings.modelId);
  const push = (part: ModelPart) => {
    if (!signal?.aborted) onPart(part);
  };
  const chunks = eventsOf(response, settings) ?? (isAsyncIterable(data) ? data : [data]);
  return readCompletion(await readStream(chunks, push), settings.modelId);
}

/** Some servers stream also what was not asked for so: the client gives its text. */
async function wholeOf(data: unknown): Promise<unknown> {
  return typeof data === 'string' && /^data:/m.test(data) ? readStream(readEvents(bytesOf(data)), () => {}) : data;
}

async function* bytesOf(text: string): AsyncIterable<Uint8Array> {
  yield new TextEncoder().encode(text);
}

/**
 * A body is read here and not by the client, which refuses streams that are not quite by the standard. A client that was
 * given reads its own streams: it may be wrapped by something that watches them.
 */
function eventsOf(response: HttpAnswer | undefined, settings: OpenAISettings): AsyncIterable<unknown> | undefined {
  if (settings.isOwnClient && response?.body === null) return readEvents(bytesOf(''));
  if (!response || !isAsyncIterable(response.body)) return undefined;
  const isStream = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '');
  return settings.isOwnClient || !isStream ? readEvents(response.body) : undefined;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<Uint8Array> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/** What fails while an answer is read does not know whose answer it was. */
function withRequestId(error: unknown, response: HttpAnswer | undefined): unknown {
  const requestId = response?.headers.get('x-request-id');
  if (!requestId || !(error instanceof ProviderError) || error.requestId !== undefined) return error;
  return new ProviderError(error.provider, error.message, { ...error, requestId, cause: error.cause });
}
