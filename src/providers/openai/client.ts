import { browserOptions } from '../shared/browser.js';
import { type ClientAnswer, type ClientRequestOptions, type Connection, clientFrom } from '../shared/client.js';
import { defined, isObject, parseJson } from '../shared/wire.js';

/** What is needed of a client of the `openai` package: `OpenAI` and `AzureOpenAI` fit. */
export interface OpenAIClient {
  readonly baseURL?: string | undefined;
  readonly maxRetries?: number | undefined;
  readonly chat: {
    readonly completions: {
      /** Makes one request. */
      create(body: object, options?: ClientRequestOptions): ClientAnswer;
    };
  };
}

/** Who answers at a base URL, as far as that matters. */
export type Server = 'openai' | 'deepseek' | 'mistral' | 'moonshot' | 'other';

/** Azure has more addresses for OpenAI's models than the first; the last one is shared with models of others. */
const AZURE = /^[^/]+\.(openai|cognitiveservices)\.azure\.(com|us)\/|^[^/]+\.services\.ai\.azure\.(com|us)\/openai\//;

const OWN_HOSTS = [
  ['deepseek', /(^|\.)deepseek\.com$/],
  ['mistral', /(^|\.)mistral\.ai$/],
  ['moonshot', /(^|\.)(moonshot\.(ai|cn)|kimi\.com)$/],
] as const;

/** Who answers at a base URL: OpenAI, itself or at Azure, or another server that speaks its protocol. */
export function serverAt(baseURL: string | undefined): Server {
  if (isOpenAI(baseURL)) return 'openai';
  const { hostname = '', pathname = '' } = URL.canParse(baseURL ?? '') ? new URL(baseURL ?? '') : {};
  if (AZURE.test(`${hostname}${pathname}/`)) return 'openai';
  return OWN_HOSTS.find(([, host]) => host.test(hostname))?.[0] ?? 'other';
}

/** Whether a base URL leads to whom the environment's key is meant for. */
function isOpenAI(baseURL: string | undefined): boolean {
  if (baseURL === undefined || !URL.canParse(baseURL)) return baseURL === undefined;
  return /(^|\.)openai\.(com|azure\.com)$/.test(new URL(baseURL).hostname);
}

/** Makes the client of the official package. */
export function makeClient({ apiKey, baseURL }: Connection<OpenAIClient>): Promise<OpenAIClient> {
  // The environment's key, organisation and project are OpenAI's: no other server is shown them. The client needs a key.
  const key = apiKey ?? (isOpenAI(baseURL) ? undefined : 'none');
  const owner = isOpenAI(baseURL) ? {} : { organization: null, project: null };
  const browser = browserOptions({
    ...{ factory: 'openai', client: 'OpenAI', variable: 'OPENAI_API_KEY' },
    ...{ hasKey: apiKey !== undefined, isOtherServer: !isOpenAI(baseURL) },
  });
  const options = { ...defined({ apiKey: key, baseURL }), ...owner, ...browser, fetch: fetchWithReason };
  return clientFrom(
    { provider: 'openai', name: 'openai' },
    () => import('openai'),
    ({ OpenAI }) => new OpenAI(options),
  );
}

/** Of a failure's JSON the client keeps only what stands under `error`: what other servers say is put there. */
async function fetchWithReason(...request: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(...request);
  if (response.ok) return response;
  const body = parseJson(await response.clone().text().catch(String));
  const isKept = body === undefined || (isObject(body) && body.error);
  return isKept ? response : new Response(JSON.stringify({ error: body }), response);
}
