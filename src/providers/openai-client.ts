import { OptionInvalidError, PackageMissingError } from '../errors.js';
import { toProviderError } from './provider-failure.js';
import { defined, isObject, parseJson } from './wire.js';

/** What is needed of a client of the `openai` package: `OpenAI` and `AzureOpenAI` fit. */
export interface OpenAIClient {
  readonly baseURL?: string | undefined;
  readonly maxRetries?: number | undefined;
  readonly chat: {
    readonly completions: {
      /** Makes one request. */
      create(body: object, options?: OpenAIRequestOptions): OpenAIAnswer;
    };
  };
}

/** What a client is told of one request beside its body. */
export interface OpenAIRequestOptions {
  readonly signal?: AbortSignal;
  readonly headers?: Record<string, string>;
  readonly maxRetries?: number;
}

/** What a client gives back for one request. */
export interface OpenAIAnswer extends PromiseLike<unknown> {
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

/** How to reach the provider. */
export interface OpenAIConnection {
  readonly client?: OpenAIClient | undefined;
  readonly apiKey?: string | (() => Promise<string>) | undefined;
  readonly baseURL?: string | undefined;
}

/** Returns a function that gives the client: the one that came, or one that is made at the first call and kept. */
export function clientSource(connection: OpenAIConnection): () => Promise<OpenAIClient> {
  const { client, apiKey, baseURL } = connection;
  if (client && (apiKey !== undefined || baseURL !== undefined)) {
    throw new OptionInvalidError('client', 'it brings its own apiKey and baseURL. Give the one, or the others.');
  }
  if (baseURL !== undefined && !(/^https?:/i.test(baseURL) && URL.canParse(baseURL))) {
    throw new OptionInvalidError('baseURL', `"${baseURL}" is no URL. It looks like http://localhost:11434/v1`);
  }
  let made: Promise<OpenAIClient> | undefined;
  return () => {
    if (client) return Promise.resolve(client);
    made ??= makeClient(connection);
    return made;
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

async function makeClient({ apiKey, baseURL }: OpenAIConnection): Promise<OpenAIClient> {
  const { OpenAI } = await importPackage();
  // The environment's key is OpenAI's: no other server is shown it. The client wants a key, so one that says nothing.
  const key = apiKey ?? (isOpenAI(baseURL) ? undefined : 'none');
  // And so are the organisation and the project.
  const owner = isOpenAI(baseURL) ? {} : { organization: null, project: null };
  try {
    return new OpenAI({ ...defined({ apiKey: key, baseURL }), ...owner, fetch: fetchWithReason });
  } catch (error) {
    throw toProviderError('openai', error);
  }
}

/** Of a failure's JSON the client keeps only what stands under `error`: what other servers say is put there. */
async function fetchWithReason(...request: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(...request);
  if (response.ok) return response;
  const body = parseJson(await response.clone().text().catch(String));
  const isKept = body === undefined || (isObject(body) && body.error);
  return isKept ? response : new Response(JSON.stringify({ error: body }), response);
}

/** Imported when it is first needed, so that whoever brings a client, or never calls the model, need not install it. */
async function importPackage(): Promise<typeof import('openai')> {
  try {
    return await import('openai');
  } catch (error) {
    throw new PackageMissingError('openai', error);
  }
}
