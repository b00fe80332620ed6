import { oneOf } from '../../internal/options/rules.js';
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
  validateConnection(modelId, options, rules);
  return clientModel<OpenAIClient>(modelId, options, {
    provider: 'openai',
    requestIdHeader: 'x-request-id',
    makeClient,
    prepare(client, request) {
      const body = toWireRequest(request, dialectOf(client, modelId, options));
      return (asked) => client.chat.completions.create(body, asked);
    },
    async read(answer, { onPart }) {
      if (!onPart) return readCompletion(await wholeOf(answer.data), modelId);
      // The client refuses streams that are not quite by the standard.
      const chunks = eventsOf(answer, 'openai', options.client === undefined);
      return readCompletion(await readStream(chunks, onPart), modelId);
    },
  });
}

const rules = {
  ...connectionRules,
  maxTokensField: oneOf('max_completion_tokens', 'max_tokens'),
} satisfies OptionTable<OpenAIOptions>;

function dialectOf(client: OpenAIClient, model: string, { maxTokensField }: OpenAIOptions): Dialect {
  const server = serverAt(client.baseURL);
  const usual = server === 'openai' ? 'max_completion_tokens' : 'max_tokens';
  return { model, maxTokensField: maxTokensField ?? usual, server };
}

/** Some servers stream although nobody asked for it: the client gives the text of such a body. */
async function wholeOf(data: unknown): Promise<unknown> {
  if (typeof data !== 'string' || !/^data:/m.test(data)) return data;
  return readStream(readEvents(bytesOf(data), 'openai'), () => {});
}
