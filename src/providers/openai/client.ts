import type { ClientAnswer, ClientRequestOptions } from '../shared/client.js';

/** The members of `client.responses` that the adapter uses. */
export interface OpenAIResponsesClient {
  /** Sends one request to the Responses API. */
  create(body: object, options?: ClientRequestOptions): ClientAnswer;
  /** Returns a stored response. Needed for background mode, in which a response is polled. */
  retrieve?(id: string, query?: object, options?: ClientRequestOptions): ClientAnswer;
  /** Cancels a response in background mode. Optional. */
  cancel?(id: string, options?: ClientRequestOptions): ClientAnswer;
}

/** The members of a client that the adapter uses. `OpenAI` and `AzureOpenAI` of the `openai` package have them. */
export interface OpenAIClient {
  readonly baseURL?: string | undefined;
  readonly maxRetries?: number | undefined;
  /** Required only for models that use the Responses API. */
  readonly responses?: OpenAIResponsesClient | undefined;
  readonly chat: {
    readonly completions: {
      /** Sends one chat completion request. */
      create(body: object, options?: ClientRequestOptions): ClientAnswer;
    };
  };
}

/** The kinds of server for which requests differ. */
export type Server = 'openai' | 'deepseek' | 'mistral' | 'moonshot' | 'openrouter' | 'dashscope' | 'other';

/**
 * Matches the base URLs at which Azure serves OpenAI models. Azure uses several domains, and `services.ai.azure.com`
 * also serves models of other vendors at other paths.
 */
const AZURE = /^[^/]+\.(openai|cognitiveservices)\.azure\.(com|us)\/|^[^/]+\.services\.ai\.azure\.(com|us)\/openai\//;

const OWN_HOSTS = [
  ['deepseek', /(^|\.)deepseek\.com$/],
  ['mistral', /(^|\.)mistral\.ai$/],
  ['moonshot', /(^|\.)(moonshot\.(ai|cn)|kimi\.com)$/],
  ['openrouter', /(^|\.)openrouter\.ai$/],
  ['dashscope', /(^|\.)(dashscope(-[a-z]+)?|maas)\.aliyuncs\.com$/],
] as const;

/** Returns the kind of server at a base URL. Azure counts as `openai` where it serves OpenAI models. */
export function serverAt(baseURL: string | undefined): Server {
  if (isOpenAI(baseURL)) return 'openai';
  const { hostname = '', pathname = '' } = URL.canParse(baseURL ?? '') ? new URL(baseURL ?? '') : {};
  if (AZURE.test(`${hostname}${pathname}/`)) return 'openai';
  return OWN_HOSTS.find(([, host]) => host.test(hostname))?.[0] ?? 'other';
}

/** True if the API key in `OPENAI_API_KEY` may be sent to this base URL. */
export function isOpenAI(baseURL: string | undefined): boolean {
  if (baseURL === undefined || !URL.canParse(baseURL)) return baseURL === undefined;
  return /(^|\.)openai\.(com|azure\.com)$/.test(new URL(baseURL).hostname);
}
