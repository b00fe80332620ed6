import type { Logger } from '../../internal/logger.js';
import { logger, oneOf } from '../../internal/options/rules.js';
import type { OptionTable } from '../../internal/options/validate.js';
import type { Model } from '../../model/model.js';
import { clientModel, connectionRules, validateConnection } from '../shared/client.js';
import { bytesOf, eventsOf, readEvents } from '../shared/event-stream.js';
import { makeClient, type OpenAIClient, serverAt } from './client.js';
import { type Dialect, toWireRequest } from './request.js';
import { readCompletion } from './response.js';
import { readStream } from './stream.js';

export { PackageMissingError } from '../../errors.js';
export type {
  ClientAnswer as OpenAIAnswer,
  ClientRequestOptions as OpenAIRequestOptions,
  HttpAnswer,
} from '../shared/client.js';
export { ProviderError, type ProviderFailure } from '../shared/error.js';
export type { OpenAIClient } from './client.js';

/** Options of {@link openai}: connection, retries and the token limit field. */
export interface OpenAIOptions {
  /** An existing client, instead of `apiKey` and `baseURL`. The client's own retries are off; see `maxRetries`. */
  readonly client?: OpenAIClient | undefined;
  /**
   * Default: the environment variable `OPENAI_API_KEY`, which is not sent to the `baseURL` option of another server.
   * If such a server needs a key, set this option.
   */
  readonly apiKey?: string | (() => Promise<string>) | undefined;
  /**
   * Base URL of a server with OpenAI's chat completions API, such as `http://localhost:11434/v1`.
   * Default: the environment variable `OPENAI_BASE_URL`, then OpenAI.
   */
  readonly baseURL?: string | undefined;
  /** HTTP headers sent with each request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * How often a failed request is retried. Default: the client's own setting, which is 2.
   * Retries status 408, 409, 429 and 5xx, the same status inside a body, and a lost connection. An answer that has
   * begun is not retried.
   * Waits as long as the server asks, but fails at once if that is more than a minute. Use 0 if a lifecycle retries.
   */
  readonly maxRetries?: number | undefined;
  /** Receives a warning for each tool that is left out of requests. Default: the console. */
  readonly logger?: Logger | undefined;
  /**
   * The request field for `maxOutputTokens`.
   * Default: `max_completion_tokens` for OpenAI and Azure, `max_tokens` for other servers.
   */
  readonly maxTokensField?: 'max_completion_tokens' | 'max_tokens' | undefined;
}

/**
 * Creates a model for OpenAI's chat completions API.
 * Works with compatible servers: Ollama, vLLM, LM Studio, llama.cpp, OpenRouter, DeepSeek.
 * Streams if the run has a listener. Imports the `openai` package at the first call.
 *
 * @example
 * const model = openai('llama3.2', { baseURL: 'http://localhost:11434/v1' });
 */
export function openai(modelId: string, options: OpenAIOptions = {}): Model {
  validateConnection(modelId, options, rules);
  return clientModel<OpenAIClient>(modelId, options, {
    provider: 'openai',
    requestIdHeader: 'x-request-id',
    makeClient,
    prepare(client, request) {
      const body = toWireRequest(request, dialectOf(client, modelId, options));
      return (requestOptions) => client.chat.completions.create(body, requestOptions);
    },
    async read(answer, { onPart }) {
      if (!onPart) return readCompletion(await wholeOf(answer.data), modelId);
      // The client's own parser refuses streams that deviate from the standard, so Keelson parses the body itself.
      const chunks = eventsOf(answer, 'openai', options.client === undefined);
      return readCompletion(await readStream(chunks, onPart), modelId);
    },
  });
}

const rules = {
  ...connectionRules,
  logger,
  maxTokensField: oneOf('max_completion_tokens', 'max_tokens'),
} satisfies OptionTable<OpenAIOptions>;

function dialectOf(client: OpenAIClient, model: string, { maxTokensField, logger }: OpenAIOptions): Dialect {
  const server = serverAt(client.baseURL);
  const usual = server === 'openai' ? 'max_completion_tokens' : 'max_tokens';
  return { model, maxTokensField: maxTokensField ?? usual, server, logger };
}

/** Some servers stream even without `stream: true`. The client then returns the body as a string. */
async function wholeOf(data: unknown): Promise<unknown> {
  if (typeof data !== 'string' || !/^data:/m.test(data)) return data;
  return readStream(readEvents(bytesOf(data), 'openai'), () => {});
}
