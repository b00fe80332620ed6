import type { Logger } from '../../internal/logger.js';
import { boolean, having, listOf, logger, oneOf, required, text } from '../../internal/options/rules.js';
import type { OptionTable } from '../../internal/options/validate.js';
import { connectionRules, outputMode } from '../shared/connection.js';
import type { OutputMode } from '../shared/output/output-mode.js';
import type { OpenAIApi } from './advice.js';
import type { OpenAIClient } from './client.js';

/** A tool that OpenAI defines, such as web search, in the form of the Responses API. */
interface OpenAITool {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Options of {@link openai}. */
export interface OpenAIOptions {
  /**
   * A client of the `openai` package to use instead of `apiKey` and `baseURL`. Keelson turns off the retries of the
   * client and retries itself; see `maxRetries`.
   */
  readonly client?: OpenAIClient | undefined;
  /**
   * The API key. Default: the environment variable `OPENAI_API_KEY`, which is not sent to another server set with
   * `baseURL`. If another server needs a key, set this option.
   */
  readonly apiKey?: string | (() => Promise<string>) | undefined;
  /**
   * Base URL of a server that implements OpenAI's API, such as `http://localhost:11434/v1`. Default: the environment
   * variable `OPENAI_BASE_URL`, then OpenAI.
   */
  readonly baseURL?: string | undefined;
  /** HTTP headers sent with each request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * How often a failed request is retried. Default: the setting of `client`, else 2. Retries status 408, 409, 429 and
   * 5xx, the same status inside a body, and a lost connection, but not an answer that has begun.
   *
   * Waits before a retry as long as the server asks, but fails at once if the server asks for more than a minute. Use 0
   * if a lifecycle retries.
   */
  readonly maxRetries?: number | undefined;
  /**
   * Receives a warning for each tool that requests leave out because the server would refuse it. Default: the console.
   */
  readonly logger?: Logger | undefined;
  /**
   * The API that requests use. Default: `responses` for OpenAI and Azure OpenAI, `chat` for other servers and for
   * models that OpenAI serves on chat completions only, such as `gpt-4o-audio-preview`.
   */
  readonly api?: OpenAIApi | undefined;
  /**
   * Tools that OpenAI defines, in the form of the Responses API, such as `{ type: 'web_search' }`. OpenAI runs most of
   * them. If the application must run the tool, such as `{ type: 'apply_patch' }`, the agent's tool with this name runs
   * it.
   */
  readonly tools?: readonly (OpenAITool | { readonly type: string })[] | undefined;
  /**
   * If true, the server stores each response. The next request of the conversation then sends only the messages after
   * the last response. Default: false, and the server stores nothing. Responses API only.
   *
   * If earlier messages have changed, or the server has deleted the response, the request sends the whole conversation.
   */
  readonly previousResponseId?: boolean | undefined;
  /**
   * The name of the request field for `maxOutputTokens` in the chat completions API. Default: `max_completion_tokens`
   * for OpenAI and Azure, `max_tokens` for other servers.
   */
  readonly maxTokensField?: 'max_completion_tokens' | 'max_tokens' | undefined;
  /**
   * How the model is asked for structured output. Default: by a table of services. If the provider refuses this mode,
   * the model uses the next one from then on: `after-tools`, then `tool`, then the schema in the instructions.
   */
  readonly outputMode?: OutputMode | undefined;
}

/** The rules that the options must meet. */
export const openaiRules = {
  ...connectionRules,
  api: oneOf('responses', 'chat'),
  tools: listOf(having('a tool of the Responses API with a `type`', { type: required(text) })),
  previousResponseId: boolean,
  logger,
  maxTokensField: oneOf('max_completion_tokens', 'max_tokens'),
  outputMode,
} satisfies OptionTable<OpenAIOptions>;
