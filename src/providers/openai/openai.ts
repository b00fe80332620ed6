import { OptionInvalidError } from '../../errors.js';
import type { Logger } from '../../internal/logger.js';
import { boolean, having, listOf, logger, oneOf, required, text } from '../../internal/options/rules.js';
import type { OptionTable } from '../../internal/options/validate.js';
import type { Model } from '../../model/model.js';
import { clientModel, connectionRules, validateConnection } from '../shared/client.js';
import type { OpenAIApi } from './advice.js';
import { type OpenAIClient, serverAt } from './client.js';
import { isChatOnly } from './model-names.js';
import { makeClient } from './own-client.js';

export type {
  ClientAnswer as OpenAIAnswer,
  ClientRequestOptions as OpenAIRequestOptions,
  HttpAnswer,
} from '../shared/client.js';
export { ProviderError, type ProviderFailure } from '../shared/error.js';
export type { OpenAIApi } from './advice.js';
export type { OpenAIClient, OpenAIResponsesClient } from './client.js';
export {
  type CustomTool,
  type CustomToolDefinition,
  type CustomToolFormat,
  customTool,
} from './responses/custom-tool.js';

/** A tool that OpenAI defines, in the form of the Responses API. */
export interface OpenAITool {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Options of {@link openai}: connection, retries, the API and the tools of the service. */
export interface OpenAIOptions {
  /**
   * A client of the `openai` package, instead of `apiKey` and `baseURL`. The client's own retries are off; see
   * `maxRetries`.
   */
  readonly client?: OpenAIClient | undefined;
  /**
   * Default: the environment variable `OPENAI_API_KEY`, which is not sent to the `baseURL` option of another server.
   * If such a server needs a key, set this option.
   */
  readonly apiKey?: string | (() => Promise<string>) | undefined;
  /**
   * Base URL of a server with OpenAI's API, such as `http://localhost:11434/v1`.
   * Default: the environment variable `OPENAI_BASE_URL`, then OpenAI.
   */
  readonly baseURL?: string | undefined;
  /** HTTP headers sent with each request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * How often a failed request is retried. Default: the setting of `client`, else 2.
   * Retries status 408, 409, 429 and 5xx, the same status inside a body, and a lost connection. An answer that has
   * begun is not retried.
   * Waits as long as the server asks, but fails at once if that is more than a minute. Use 0 if a lifecycle retries.
   */
  readonly maxRetries?: number | undefined;
  /** Receives a warning for each tool that is left out of requests. Default: the console. */
  readonly logger?: Logger | undefined;
  /**
   * The API of the server. Default: `responses` for OpenAI and Azure OpenAI, `chat` for other servers and for models
   * that OpenAI serves on chat completions only, such as `gpt-4o-audio-preview`.
   */
  readonly api?: OpenAIApi | undefined;
  /**
   * Tools that OpenAI defines, in the form of the Responses API, such as `{ type: 'web_search' }`. A tool that the
   * application runs, such as `{ type: 'apply_patch' }`, is run by the agent's tool with that name.
   */
  readonly tools?: readonly (OpenAITool | { readonly type: string })[] | undefined;
  /**
   * If true, the server stores each response, and the next request of the conversation sends only the messages after
   * the last response. The request contains the whole conversation if the earlier messages changed, or if the server
   * has deleted the response. Default: false, and the server stores nothing. Responses API only.
   */
  readonly previousResponseId?: boolean | undefined;
  /**
   * The request field for `maxOutputTokens` in the chat completions API.
   * Default: `max_completion_tokens` for OpenAI and Azure, `max_tokens` for other servers.
   */
  readonly maxTokensField?: 'max_completion_tokens' | 'max_tokens' | undefined;
}

/**
 * Creates a model for OpenAI's API. Uses the Responses API with OpenAI and Azure OpenAI. Uses the chat completions API
 * with other servers, such as Ollama, vLLM, LM Studio, llama.cpp, OpenRouter and DeepSeek.
 * Streams if the run has a listener.
 *
 * @example
 * const cloud = openai('gpt-5.2');
 * const local = openai('llama3.2', { baseURL: 'http://localhost:11434/v1' });
 */
export function openai(modelId: string, options: OpenAIOptions = {}): Model {
  validateConnection(modelId, options, rules);
  const isOwnClient = options.client === undefined;
  return clientModel<OpenAIClient>(modelId, options, {
    provider: 'openai',
    requestIdHeader: 'x-request-id',
    makeClient,
    async prepare(client, request) {
      const server = serverAt(client.baseURL);
      const { logger } = options;
      const { responses } = client;
      if (apiOf(client, modelId, options) === 'responses' && responses !== undefined) {
        const { tools = [], previousResponseId = false } = options;
        const { prepareResponse } = await import('./responses/protocol.js');
        return prepareResponse(
          { client: responses, model: modelId, isOwnClient, tools, previousResponseId, logger },
          request,
        );
      }
      const usual = server === 'openai' ? 'max_completion_tokens' : 'max_tokens';
      const { maxTokensField = usual } = options;
      const { prepareCompletion } = await import('./chat/protocol.js');
      return prepareCompletion({ client, model: modelId, isOwnClient, server, maxTokensField, logger }, request);
    },
  });
}

function apiOf({ baseURL, responses }: OpenAIClient, modelId: string, { api, tools }: OpenAIOptions): OpenAIApi {
  const isServed = serverAt(baseURL) === 'openai' && responses !== undefined && !isChatOnly(modelId);
  const chosen = api ?? (isServed ? 'responses' : 'chat');
  if (chosen === 'responses' && responses === undefined) {
    throw new OptionInvalidError(
      'client',
      "`client` must have `responses` for `api: 'responses'`, got a client without it",
    );
  }
  if (chosen === 'chat' && tools?.length) {
    throw new OptionInvalidError(
      'tools',
      "`tools` must be used with the Responses API, got the chat completions API: set `api: 'responses'`",
    );
  }
  return chosen;
}

const rules = {
  ...connectionRules,
  api: oneOf('responses', 'chat'),
  tools: listOf(having('a tool of the Responses API with a `type`', { type: required(text) })),
  previousResponseId: boolean,
  logger,
  maxTokensField: oneOf('max_completion_tokens', 'max_tokens'),
} satisfies OptionTable<OpenAIOptions>;
