import { browserOptions } from '../shared/browser.js';
import { type ClientAnswer, type ClientRequestOptions, type Connection, clientFrom } from '../shared/client.js';
import { defined, isObject, parseJson } from '../shared/wire.js';

/** The `responses` member of a client. */
export interface OpenAIResponsesClient {
  /** Sends one request of the Responses API. */
  create(body: object, options?: ClientRequestOptions): ClientAnswer;
  /** Returns a stored response. Needed for background mode. */
  retrieve?(id: string, query?: object, options?: ClientRequestOptions): ClientAnswer;
  /** Cancels a response in background mode. */
  cancel?(id: string, options?: ClientRequestOptions): ClientAnswer;
}

/** The part of an `openai` package client that the adapter uses. `OpenAI` and `AzureOpenAI` both fit. */
export interface OpenAIClient {
  readonly baseURL?: string | undefined;
  readonly maxRetries?: number | undefined;
  /** Needed for the Responses API. */
  readonly responses?: OpenAIResponsesClient | undefined;
  readonly chat: {
    readonly completions: {
      /** Sends one chat completion request. */
      create(body: object, options?: ClientRequestOptions): ClientAnswer;
    };
  };
}

/** The kinds of server that get different request bodies. */
export type Server = 'openai' | 'deepseek' | 'mistral' | 'moonshot' | 'openrouter' | 'dashscope' | 'other';

/** Azure serves OpenAI models under several domains. `services.ai.azure.com` also serves models of other vendors. */
const AZURE = /^[^/]+\.(openai|cognitiveservices)\.azure\.(com|us)\/|^[^/]+\.services\.ai\.azure\.(com|us)\/openai\//;

const OWN_HOSTS = [
  ['deepseek', /(^|\.)deepseek\.com$/],
  ['mistral', /(^|\.)mistral\.ai$/],
  ['moonshot', /(^|\.)(moonshot\.(ai|cn)|kimi\.com)$/],
  ['openrouter', /(^|\.)openrouter\.ai$/],
  ['dashscope', /(^|\.)(dashscope(-[a-z]+)?|maas)\.aliyuncs\.com$/],
] as const;

/** Returns the kind of server at a base URL. Azure domains that serve OpenAI models count as `openai`. */
export function serverAt(baseURL: string | undefined): Server {
  if (isOpenAI(baseURL)) return 'openai';
  const { hostname = '', pathname = '' } = URL.canParse(baseURL ?? '') ? new URL(baseURL ?? '') : {};
  if (AZURE.test(`${hostname}${pathname}/`)) return 'openai';
  return OWN_HOSTS.find(([, host]) => host.test(hostname))?.[0] ?? 'other';
}

/** True if `OPENAI_API_KEY` may be sent to this base URL. */
function isOpenAI(baseURL: string | undefined): boolean {
  if (baseURL === undefined || !URL.canParse(baseURL)) return baseURL === undefined;
  return /(^|\.)openai\.(com|azure\.com)$/.test(new URL(baseURL).hostname);
}

/** Creates a client with the `openai` package. */
export function makeClient({ apiKey, baseURL }: Connection<OpenAIClient>): Promise<OpenAIClient> {
  // The API key, organization and project from the environment are not sent to servers other than OpenAI.
  // The client refuses to start without a key.
  const key = apiKey ?? (isOpenAI(baseURL) ? undefined : 'none');
  const owner = isOpenAI(baseURL) ? {} : { organization: null, project: null };
  const browser = browserOptions({
    factory: 'openai',
    client: 'OpenAI',
    variable: 'OPENAI_API_KEY',
    hasKey: apiKey !== undefined,
    isOtherServer: !isOpenAI(baseURL),
  });
  const options = { ...defined({ apiKey: key, baseURL }), ...owner, ...browser, fetch: fetchWithReason };
  return clientFrom(
    { provider: 'openai', name: 'openai' },
    () => import('openai'),
    ({ OpenAI }) => new OpenAI(options),
  );
}

/**
 * The client keeps only the `error` field of an error body. Other servers use other fields, so the whole body is moved
 * into `error`.
 */
async function fetchWithReason(...request: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(...request);
  if (response.ok) return response;
  const body = parseJson(await response.clone().text().catch(String));
  const isUnchanged = body === undefined || (isObject(body) && body.error);
  return isUnchanged ? response : new Response(JSON.stringify({ error: body }), response);
}
